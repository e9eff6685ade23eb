// `hsqueeze`: finds nodes that a cluster without local disks can spare, or standby nodes that it needs.
import type { ClusterModel } from '../../allocation/model/cluster-model'
import {
  STANDBY_TAG,
  type Squeezed,
  everyNodeTakes,
  nodesToOffline,
  nodesToOnline,
  offlineCandidates,
  onlineCandidates,
  spareInstance,
  switchNodes,
} from '../../allocation/evacuation/squeeze'
import { nanoseconds } from '../../lib/clock'
import { OOB_TIMEOUT_S } from '../../model/constants/words'
import { showCommands } from './commands'
import { type JobSet, execute } from './execute'
import { commandsText, jobOf, jobSets } from './hbal-jobs'
import { loadModel, saveData, savedData } from './load'
import { type Parsed, has, numberOf, parseOptions, textOf, verbosity } from './options'
import { PROGRAM_VERSION, type Context, failure } from './context'

const OPTIONS =
  'text-data minimal-resources target-resources save print-commands verbose no-headers static-kvm-node-memory luxi exec version help help-completion'

export async function hsqueeze(args: readonly string[], surroundings: Context): Promise<number> {
  const options = parseOptions('hsqueeze', OPTIONS, args)
  if (options.rest.length > 0) throw failure("This program doesn't take any arguments.")
  const factor = (name: string) => numberOf(options, name) ?? 2
  const [minimal, target] = [factor('minimal-resources'), factor('target-resources')]
  const model = await loadModel(options, surroundings)
  const { data } = model
  saveData(options, surroundings, 'original', 'before hsqueeze run', data)
  const [off, on] = [offlineCandidates(data), onlineCandidates(data)]
  const names = (nodes: readonly number[]) => nodes.map((node) => data.nodes[node]?.name ?? '')
  const verbose = verbosity(options) > 1
  if (verbose) {
    surroundings.out(`Offline candidates: ${names(off).join(',')}\nOnline candidates: ${names(on).join(',')}\n`)
  }
  const show = (title: string, nodes: readonly number[]) => {
    if (!has(options, 'no-headers')) surroundings.out(`'${title}'\n`)
    surroundings.out(
      names(nodes)
        .map((name) => `${name}\n`)
        .join(''),
    )
  }
  const finish = async (commands: string, result: ClusterModel, when: string, execution?: Execution) => {
    showCommands('Commands to run:', commands, options, surroundings)
    if (execution !== undefined) await carryOut(execution, options, surroundings)
    saveData(options, surroundings, 'squeezed', `after hsqueeze ${when}`, savedData(result))
    return 0
  }
  const spare = spareInstance(data.policy.standard, minimal)
  if (!everyNodeTakes(model, spare)) {
    const enough = nodesToOnline(data, on, spare)
    const nodes = enough ?? on
    show('Nodes to online', nodes)
    if (verbose && enough === undefined) surroundings.out('Onlining all nodes will not yield enough capacity\n')
    const squeezed = switchNodes(data, nodes, false)
    const sets = [powerSet('on', names(nodes)), ...moveSets(squeezed)]
    return finish(powerText(model, nodes, 'on') + movesText(squeezed), squeezed.model, 'expansion', {
      comment: `expanding by ${nodes.length} nodes`,
      sets,
    })
  }
  const nodes = nodesToOffline(data, off, spareInstance(data.policy.standard, target))
  if (nodes.length === 0) {
    show('No action', [])
    return finish('echo Nothing to do\n', model, 'doing nothing')
  }
  show('Nodes to offline', nodes)
  const squeezed = switchNodes(data, nodes, true)
  const tags = nodes.map((node) => `  gnt-node add-tags ${model.nodes[node]?.alias} ${STANDBY_TAG}\n`)
  const commands = `${movesText(squeezed)}\necho Tagging Commands\n${tags.join('')}\n${powerText(model, nodes, 'off')}`
  return finish(commands, squeezed.model, 'run', {
    comment: `condensing by ${nodes.length} nodes`,
    sets: [...moveSets(squeezed), ...names(nodes).map(tagSet), powerSet('off', names(nodes))],
  })
}

interface Execution {
  readonly comment: string
  readonly sets: readonly JobSet[]
}

async function carryOut({ comment, sets }: Execution, options: Parsed, surroundings: Context): Promise<void> {
  if (!has(options, 'exec')) return
  if (!has(options, 'luxi')) throw failure('hsqueeze: Execution of commands possible only on LUXI')
  const reason = [['hsqueeze', `hsqueeze ${PROGRAM_VERSION} called`, nanoseconds(surroundings.clock)]]
  const common = { reason, comment: `${comment} ${PROGRAM_VERSION}` }
  const marked = sets.map(({ title, jobs }) => ({
    title,
    jobs: jobs.map((ops) => ops.map((op) => ({ ...op, ...common }))),
  }))
  await execute(surroundings.connect(textOf(options, 'luxi')), marked, surroundings)
}

const jobsOf = ({ model, steps }: Squeezed) =>
  jobSets(steps.map((step) => jobOf(model, step, model.data.instances[step.move.instance]?.name ?? '')))

const moveSets = (squeezed: Squeezed): JobSet[] =>
  jobsOf(squeezed).map((set) => ({
    title: `Moving instances ${set.map(({ instance }) => instance).join(',')}`,
    jobs: set.map(({ opcodes }) => opcodes),
  }))

const tagSet = (name: string): JobSet => ({
  title: `Tagging node ${name} with standby`,
  jobs: [[{ OP_ID: 'OP_TAGS_SET', kind: 'node', tags: [STANDBY_TAG], name }]],
})

/** One job, so that nothing is placed on a node between its mark and the switch. */
const powerSet = (state: 'on' | 'off', node_names: readonly string[]): JobSet => ({
  title: `Powering ${state} nodes`,
  jobs: [
    [
      ...node_names.map((node_name) => ({
        ...{ OP_ID: 'OP_NODE_SET_PARAMS', node_name, force: false, offline: state === 'off', auto_promote: false },
      })),
      {
        ...{ OP_ID: 'OP_OOB_COMMAND', node_names, command: `power-${state}`, timeout: OOB_TIMEOUT_S },
        ...{ ignore_status: false, power_delay: POWER_DELAY_S },
      },
    ],
  ],
})

/** Seconds between switching on two nodes. */
const POWER_DELAY_S = 2

const movesText = (squeezed: Squeezed): string => commandsText(jobsOf(squeezed))

const powerText = (model: ClusterModel, nodes: readonly number[], state: 'on' | 'off'): string =>
  `echo Power Commands\n${nodes.map((node) => `  gnt-node power -f ${state} ${model.nodes[node]?.alias}\n`).join('')}`
