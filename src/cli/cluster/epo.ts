// Emergency power off, and on again: first the instances, then the nodes' power through their helpers.
import { OpInstanceShutdown, OpInstanceStartup } from '../../opcodes/instance'
import { OpOobCommand } from '../../opcodes/node'
import type { Call } from '../command'
import { EXIT } from '../outcome'
import { confirmMany } from '../input/confirm'
import { namesFilter } from '../input/filter-text'
import { opcodeOf } from '../submit/submit'

/** Seconds between two checks of starting nodes; nothing notifies us when one is up. */
const LOOK_S = 30
const REACHABLE_S = 15 * 60

interface Plan {
  readonly all: string[]
  /** The nodes whose power changes. */
  readonly switched: string[]
  /** The nodes to wait for: those that are not offline. */
  readonly awaited: string[]
  /** Each instance with the nodes that it needs, except the master. */
  readonly instances: Map<string, Set<string>>
}

export async function emergencyPower(call: Call): Promise<number> {
  const { options, args, terminal } = call
  if (options.flag('groups') && options.flag('show_all')) {
    terminal.err('Only one of --groups or --all are allowed')
    return EXIT.failure
  }
  if (args.length > 0 && options.flag('show_all')) {
    terminal.err('Arguments in combination with --all are not allowed')
    return EXIT.failure
  }
  const plan = await makePlan(call)
  if (plan === undefined) return EXIT.failure
  if (!(await confirmMany(call, { names: plan.all, kind: 'nodes', verb: 'epo' }))) return EXIT.failure
  return options.flag('on') ? powerOn(call, plan) : powerOff(call, plan)
}

async function makePlan(call: Call): Promise<Plan | undefined> {
  const { options, terminal, master } = call
  const fields = ['name', 'master', 'pinst_list', 'sinst_list', 'powered', 'offline']
  const rows = await master.queryNodes(await wantedNodes(call), fields, false)
  const on = options.flag('on')
  const plan: Plan = { all: [], switched: [], awaited: [], instances: new Map() }
  for (const [nodeName, isMaster, primaries, secondaries, powered, offline] of rows) {
    const name = String(nodeName)
    plan.all.push(name)
    if (offline !== true) {
      plan.awaited.push(name)
      for (const instance of [...list(primaries), ...list(secondaries)]) {
        const needed = plan.instances.get(instance) ?? new Set()
        plan.instances.set(instance, isMaster === true ? needed : needed.add(name))
      }
    }
    if (isMaster === true && on) continue
    if (isMaster === true && !options.flag('show_all')) {
      terminal.err(
        `${name} is the master node, please do a master-failover to another node not affected by the EPO or use --all if you ` +
          'intend to shutdown the whole cluster',
      )
      return undefined
    }
    if (typeof powered !== 'boolean')
      terminal.out(
        `Node ${name} does not support out-of-band handling, it can not be handled in a fully automated manner`,
      )
    else if (powered === on) terminal.out(`Node ${name} is already in desired power state, skipping`)
    else if (offline !== true || powered) plan.switched.push(name)
  }
  return plan
}

const list = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

async function wantedNodes({ options, args, master }: Call): Promise<readonly string[]> {
  if (!options.flag('groups')) return args
  const groups = await master.queryGroups(args, ['node_list'], false)
  return groups.flatMap(([nodes]) => list(nodes))
}

async function powerOff(call: Call, { switched, instances }: Plan): Promise<number> {
  if (!(await setInstances(call, [...instances.keys()], false))) {
    call.terminal.err('Please investigate and stop instances manually before continuing')
    return EXIT.failure
  }
  return switched.length === 0 || (await setPower(call, switched, false)) ? EXIT.ok : EXIT.failure
}

/** Ganeti 3.0 sends `power-off` here too. We send what the command is for. */
async function powerOn(call: Call, plan: Plan): Promise<number> {
  const { terminal } = call
  if (plan.switched.length > 0 && !(await setPower(call, plan.switched, true)))
    terminal.err('Not all nodes seem to get back up, investigate and start manually if needed')
  terminal.out('Waiting until all nodes are available again')
  if (await startWhenReachable(call, plan)) return EXIT.ok
  terminal.err('Please investigate and start stopped instances manually')
  return EXIT.failure
}

/** Starts an instance as soon as all its nodes answer. */
async function startWhenReachable(call: Call, { awaited, instances }: Plan): Promise<boolean> {
  const { clock, terminal } = call
  const deadline_ms = clock.monotonic_ms() + REACHABLE_S * 1000
  const up = new Set<string>()
  const waiting = new Map(instances)
  let success = true
  for (;;) {
    for (const name of await answering(
      call,
      awaited.filter((node) => !up.has(node)),
    )) {
      terminal.out(`Node ${name} became available`)
      up.add(name)
    }
    const ready = [...waiting].filter(([, nodes]) => [...nodes].every((node) => up.has(node))).map(([name]) => name)
    for (const name of ready) waiting.delete(name)
    if (ready.length > 0 && !(await setInstances(call, ready, true))) success = false
    const down = awaited.filter((node) => !up.has(node))
    if (down.length === 0) return success
    if (clock.monotonic_ms() >= deadline_ms) {
      terminal.err('Time exceeded while waiting for nodes to become reachable again:')
      for (const node of down) terminal.err(`  - ${node}`)
      return false
    }
    await clock.sleep(LOOK_S * 1000)
  }
}

/** A node counts as up when its daemon tells its boot time. */
async function answering({ master }: Call, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return []
  const { data } = await master.query('node', ['name', 'bootid'], namesFilter('name', names))
  return data.filter(([, bootid]) => bootid?.[0] === 0).map(([name]) => String(name?.[1]))
}

async function setPower({ jobs, options, terminal }: Call, nodes: readonly string[], on: boolean): Promise<boolean> {
  const result = await jobs.run(
    opcodeOf(OpOobCommand, {
      node_names: nodes,
      command: on ? 'power-on' : 'power-off',
      ignore_status: true,
      timeout: options.number('oob_timeout'),
      power_delay: options.raw('power_delay'),
    }),
  )
  const answers: unknown[] = Array.isArray(result) ? result : []
  const failed = answers.filter((row) => Array.isArray(row) && Array.isArray(row[1]) && row[1][0] !== 0)
  for (const row of failed) {
    const name: unknown = Array.isArray(row) && Array.isArray(row[0]) ? row[0][1] : row
    terminal.err(`There was a problem changing power for ${String(name)}, please investigate`)
  }
  return failed.length === 0
}

async function setInstances(call: Call, names: readonly string[], start: boolean): Promise<boolean> {
  const { jobs, options, terminal } = call
  for (const name of names) terminal.out(`Submit ${start ? 'startup' : 'shutdown'} of instance ${name}`)
  const timeout = options.number('shutdown_timeout')
  const outcomes = await jobs.runMany(
    names.map((instance_name) => ({
      name: instance_name,
      ops: [
        start
          ? opcodeOf(OpInstanceStartup, { instance_name })
          : opcodeOf(OpInstanceShutdown, { instance_name, timeout, no_remember: true }),
      ],
    })),
    true,
  )
  const bad = outcomes.filter(({ ok }) => !ok).length
  if (bad === 0) terminal.out(`All instances have been ${start ? 'started' : 'stopped'} successfully`)
  else {
    terminal.err(`There were errors while ${start ? 'starting' : 'stopping'} instances:`)
    terminal.err(`${bad} error(s) out of ${outcomes.length} instance(s)`)
  }
  return bad === 0
}
