// gnt-node: the commands that submit jobs.
import {
  OpNodeAdd,
  OpNodeEvacuate,
  OpNodeMigrate,
  OpNodePowercycle,
  OpNodeRemove,
  OpNodeSetParams,
} from '../../opcodes/node'
import { OpInstanceFailover } from '../../opcodes/instance'
import { ECODE } from '../../model/errors'
import type { Call } from '../command'
import { CommandFailure, EXIT, refusal } from '../outcome'
import { confirm } from '../input/confirm'
import { niceSort } from '../../model/nice-sort'
import { followJobs } from '../instance/move'
import { NOTHING_GIVEN } from '../instance/modify'
import { oYes } from '../input/options'
import { oSetOnline } from './options'
import { diskStates, nodeParams, numbersByIdent } from '../input/params'
import { firstArgument, opcodeOf, printChanges, submitting } from '../submit/submit'

export const addNode = submitting(OpNodeAdd, async (call) => {
  const { options } = call
  return {
    ...options.parametersOf(OpNodeAdd),
    ...(await preparedNode(call, firstArgument(call))),
    group: options.text('nodegroup'),
    ndparams: nodeParams(options.keyValues('ndparams')),
    hv_state: numbersByIdent(options.idents('hv_state')),
    disk_state: diskStates(options.idents('disk_state')),
  }
})

/** An embedded cluster makes its own nodes. */
async function preparedNode(call: Call, name: string) {
  const secondary_ip = call.options.text('secondary_ip')
  if (!call.options.flag('node_setup')) return { node_name: name, secondary_ip, node_setup: false }
  if (call.prepareNode !== undefined) {
    const node = await call.prepareNode(name)
    return { node_name: node.name, primary_ip: node.address, secondary_ip, node_setup: true }
  }
  const { joinNode } = await import('./join.js')
  const joined = await joinNode(call, name)
  return {
    node_name: joined.name,
    primary_ip: joined.address,
    secondary_ip: joined.secondaryIp,
    node_setup: joined.sshKeys,
  }
}

export const removeNode = submitting(OpNodeRemove, (call) => ({ node_name: firstArgument(call) }))

export async function modifyNode(call: Call): Promise<number> {
  const { options } = call
  const node_name = firstArgument(call)
  const { auto_promote, ...input } = options.parametersOf(OpNodeSetParams)
  const changes = {
    ...input,
    ndparams: nodeParams(options.keyValues('ndparams')),
    hv_state: numbersByIdent(options.idents('hv_state')),
    disk_state: diskStates(options.idents('disk_state')),
  }
  if (Object.values(changes).every((value) => value === undefined)) throw new CommandFailure(NOTHING_GIVEN)
  // A node that was away may act on outdated data until it is readded. Virtual nodes are never away.
  const online = `Node ${node_name} is set online by hand: unless its configuration is still right, use gnt-node add --readd. Continue?`
  const isSure = options.flag('force') || changes.offline !== false || call.nodesRoot !== undefined
  if (!isSure && !(await confirm(call, online, oSetOnline))) return EXIT.failure
  const manner = { force: options.flag('force'), auto_promote }
  const result = await call.jobs.run(opcodeOf(OpNodeSetParams, { node_name, ...manner, ...changes }))
  printChanges(call, 'node', node_name, result)
  return EXIT.ok
}

export async function powercycleNode(call: Call): Promise<number> {
  const node_name = firstArgument(call)
  const question = `Are you sure you want to hard powercycle node ${node_name}?`
  if (!(await confirm(call, question, oYes))) return EXIT.usage
  const result = await call.jobs.run(opcodeOf(OpNodePowercycle, { node_name, force: call.options.flag('force') }))
  if (typeof result === 'string' && result !== '') call.terminal.err(result)
  return EXIT.ok
}

export async function evacuateNode(call: Call): Promise<number> {
  const { options, terminal } = call
  const node_name = firstArgument(call)
  const elsewhere = options.text('remote_node') !== undefined
  if (elsewhere)
    terminal.err('New secondary node given (disabling iallocator), hence evacuating secondary instances only.')
  const primary = options.flag('primary_only') && !elsewhere
  const secondary = options.flag('secondary_only') || elsewhere
  if (primary && secondary) throw refusal('Only one of the --primary-only and --secondary-only options can be passed')
  const { names } = await instancesOf(
    call,
    node_name,
    primary ? ['pinst_list'] : secondary ? ['sinst_list'] : ['pinst_list', 'sinst_list'],
  )
  if (names.length === 0) {
    terminal.err(`No instances to evacuate on node(s) ${node_name}, exiting.`)
    return EXIT.ok
  }
  if (!(await confirm(call, `Relocate instance(s) ${names.join(', ')} from node(s) ${node_name}?`)))
    return EXIT.notConfirmed
  const result = await call.jobs.run(
    opcodeOf(OpNodeEvacuate, {
      ...options.parametersOf(OpNodeEvacuate),
      node_name,
      mode: primary ? 'primary-only' : secondary ? 'secondary-only' : 'all',
    }),
  )
  return followJobs(call, result, 'All instances evacuated', 'during the evacuation')
}

export async function migrateNode(call: Call): Promise<number> {
  const { options, terminal } = call
  const node_name = firstArgument(call)
  const { node, names } = await instancesOf(call, node_name, ['pinst_list'])
  if (names.length === 0) {
    terminal.out(`No primary instances on node ${node}, exiting.`)
    return EXIT.ok
  }
  if (!(await confirm(call, `Migrate instance(s) ${names.join(', ')}?`))) return EXIT.notConfirmed
  const mode = options.text('migration_mode')
  if (!options.flag('live') && mode !== undefined)
    throw refusal('Only one of the --non-live and --migration-mode options can be passed')
  const result = await call.jobs.run(
    opcodeOf(OpNodeMigrate, {
      ...options.parametersOf(OpNodeMigrate),
      node_name,
      mode: options.flag('live') ? mode : 'non-live',
    }),
  )
  return followJobs(call, result, 'All instances migrated', 'during the node migration')
}

export async function failoverNode(call: Call): Promise<number> {
  const { options, terminal } = call
  const { node, names } = await instancesOf(call, firstArgument(call), ['pinst_list'])
  if (names.length === 0) {
    terminal.err(`No primary instances on node ${node}, exiting.`)
    return EXIT.ok
  }
  if (!(await confirm(call, `Fail over instance(s) ${names.map((name) => `'${name}'`).join(',')}?`))) return EXIT.usage
  const jobs = names.map((name) => ({
    name,
    ops: [opcodeOf(OpInstanceFailover, { ...options.parametersOf(OpInstanceFailover), instance_name: name })],
  }))
  const outcomes = await call.jobs.runMany(jobs, true)
  const failed = outcomes.filter(({ ok }) => !ok).length
  if (failed === 0) terminal.out(`All ${names.length} instance(s) failed over successfully.`)
  else terminal.out(`There were errors during the failover:\n${failed} error(s) out of ${names.length} instance(s).`)
  // As in Ganeti, the command names failures, and still succeeds.
  return EXIT.ok
}

/** The node's full name, and its instances. */
async function instancesOf({ master }: Call, name: string, fields: readonly string[]) {
  const [row] = await master.queryNodes([name], ['name', ...fields], false)
  if (row === undefined) throw refusal(`Node name ${name} not found`, ECODE.NOENT)
  const [node, ...lists] = row
  const names = lists.flatMap((list) => (Array.isArray(list) ? list.map(String) : []))
  return { node: String(node), names: niceSort(new Set(names)) }
}
