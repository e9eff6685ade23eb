// gnt-group: the commands that submit jobs.
import {
  OpGroupAdd,
  OpGroupAssignNodes,
  OpGroupEvacuate,
  OpGroupRemove,
  OpGroupRename,
  OpGroupSetParams,
} from '../../opcodes/group'
import type { Call } from '../command'
import { CommandFailure, EXIT } from '../outcome'
import { followJobs, waitForHandedOn } from '../instance/move'
import { NOTHING_GIVEN } from '../instance/modify'
import { byIdent, diskStates, guessed, nodeParams, numbersByIdent } from '../input/params'
import { groupPolicy } from '../input/policy'
import { firstArgument, opcodeOf, printChanges, submitting } from '../submit/submit'

export async function addGroup(call: Call): Promise<number> {
  const op = opcodeOf(OpGroupAdd, { group_name: firstArgument(call), ...paramsOf(call) })
  return waitForHandedOn(call, await call.jobs.run(op))
}

export async function modifyGroup(call: Call): Promise<number> {
  const group_name = firstArgument(call)
  const changes = paramsOf(call)
  if (Object.values(changes).every((value) => value === undefined)) throw new CommandFailure(NOTHING_GIVEN)
  printChanges(
    call,
    'node group',
    group_name,
    await call.jobs.run(opcodeOf(OpGroupSetParams, { group_name, ...changes })),
  )
  return EXIT.ok
}

function paramsOf({ options }: Call) {
  const diskparams = byIdent(options.idents('diskparams'))
  return {
    ...options.parametersOf(OpGroupSetParams),
    ndparams: nodeParams(options.keyValues('ndparams')),
    diskparams:
      diskparams && Object.fromEntries(Object.entries(diskparams).map(([name, values]) => [name, guessed(values)])),
    ipolicy: groupPolicy(options),
    hv_state: numbersByIdent(options.idents('hv_state')),
    disk_state: diskStates(options.idents('disk_state')),
  }
}

export const removeGroup = submitting(OpGroupRemove, (call) => ({ group_name: firstArgument(call) }))

export const renameGroup = submitting(OpGroupRename, ({ args }) => ({ group_name: args[0], new_name: args[1] }))

export const assignNodes = submitting(OpGroupAssignNodes, ({ args, options }) => ({
  group_name: args[0],
  nodes: args.slice(1),
  force: options.flag('force'),
}))

export async function evacuateGroup(call: Call): Promise<number> {
  const { options } = call
  const groups = options.list('to') ?? []
  const result = await call.jobs.run(
    opcodeOf(OpGroupEvacuate, {
      ...options.parametersOf(OpGroupEvacuate),
      group_name: firstArgument(call),
      target_groups: groups.length === 0 ? undefined : groups,
    }),
  )
  return followJobs(call, result, 'All instances evacuated', 'during the evacuation')
}
