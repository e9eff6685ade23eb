// Questions before acting: which moves balance the cluster, what fits into it, and what happens if nodes die or
// instances arrive.
import { Mismatch, type Shape } from '../../lib/shapes/shape'
import { enforceType } from '../../model/param-types'
import { type Answered, balanceRequest, capacityRequest, whatIfRequest } from '../../rpc/luxi/allocation'
import { administrator, gantryOf } from '../administrator'
import {
  BALANCE_OPTIONS,
  oCount,
  oExplain,
  oExplainMoves,
  oGroups,
  oInstanceGroup,
  oMaxInstances,
  oNodeTag,
  oPlaces,
  SHOW_OPTIONS,
  SPECIFICATION_OPTIONS,
} from './options'
import { showBalance, showCapacity, showWhatIf } from './output'
import { type Call, many, type Tool } from '../command'
import { CommandFailure, EXIT } from '../outcome'
import { confirm } from '../input/confirm'
import type { OptionValues } from '../input/option-values'
import { SUBMIT_OPTIONS, oForce, oIallocator } from '../input/options'
import { diskSize } from '../input/params'

export const allocationTool: Tool = {
  name: 'gnt-allocation',
  commands: [
    {
      name: 'balance',
      help: 'show the moves that load the nodes of each group evenly, or carry them out',
      usage: '[<opts>...]',
      args: [],
      options: [...BALANCE_OPTIONS, oIallocator, oGroups, oExplainMoves, oForce, ...SUBMIT_OPTIONS, ...SHOW_OPTIONS],
      run: balance,
    },
    {
      name: 'capacity',
      help: 'show how many instances of a size fit into each node group, and why no more',
      usage: '-t disk-type --memory size [--disks size[,...]] [<opts>...]',
      args: [],
      options: [...SPECIFICATION_OPTIONS, oIallocator, oGroups, oMaxInstances, oPlaces, oExplain, ...SHOW_OPTIONS],
      run: capacity,
    },
    {
      name: 'whatif',
      help: 'show what happens when nodes die, or instances arrive, or both; without any, show the present reserve',
      usage: '[--node-tag tag] [-t disk-type --memory size --count number] [<node-name>...]',
      args: [many('node name')],
      options: [oNodeTag, ...SPECIFICATION_OPTIONS, oCount, oInstanceGroup, oExplain, ...SHOW_OPTIONS],
      run: whatIf,
    },
  ],
}

async function balance(call: Call): Promise<number> {
  const { options } = call
  const request = {
    ...{ iallocator: options.text('iallocator'), groups: options.list('groups') },
    ...{ max_moves: options.number('max_moves') },
    ...{ min_gain: options.number('min_gain'), min_gain_limit: options.number('min_gain_limit') },
    ...{ disk_moves: options.flag('disk_moves'), instance_moves: options.flag('instance_moves') },
    ...{ evacuate: options.flag('evacuate'), restricted_migration: options.flag('restricted_migration') },
    explain: options.flag('explain'),
  }
  const gantry = gantryOf(call)
  const answer = await answered(call, gantry.balance(administrator('root'), checked(balanceRequest, request), null))
  await showBalance(call, answer)
  const { plan, steps } = answer
  if (!options.flag('execute') || plan === null) return EXIT.ok
  if (!(await confirm(call, `Carry out ${steps.length} move(s)?`))) return EXIT.notConfirmed
  const ops = answer.ops.map((op) => ({ ...op, reason: [] }))
  // With the plan the master refuses if its instances or nodes have changed since.
  const { job } = await gantry.submit(administrator('root'), {
    ...{ ops, plan, reason: options.text('reason') ?? null },
    ...{ key: null, digest: '', match: [] },
  })
  call.jobs.tell(job)
  await call.jobs.wait(job)
  return EXIT.ok
}

async function capacity(call: Call): Promise<number> {
  const { options } = call
  const request = {
    spec: specification(options),
    ...{ iallocator: options.text('iallocator'), groups: options.list('groups') },
    ...{ max_instances: options.number('max_instances') },
    explain: options.flag('explain'),
  }
  const requested = gantryOf(call).capacity(administrator('root'), checked(capacityRequest, request), null)
  await showCapacity(call, await answered(call, requested))
  return EXIT.ok
}

async function whatIf(call: Call): Promise<number> {
  const { options, args } = call
  const arriving = options.text('disk_template') !== undefined || options.number('memory') !== undefined
  const tag = options.text('node_tag')
  if (!arriving && (options.number('count') !== undefined || options.text('nodegroup') !== undefined))
    throw new CommandFailure(
      '--count and --node-group are of instances that arrive: say with -t and --memory what these are',
    )
  const group = options.text('nodegroup')
  const instances = () => [{ spec: specification(options), count: options.number('count') ?? 1, ...{ group } }]
  const request = {
    // If nothing happens, the answer is the present reserve.
    ...{ nodes: args.length === 0 && (arriving || tag !== undefined) ? undefined : args, node_tag: tag },
    ...(arriving && { instances: instances() }),
    explain: options.flag('explain'),
  }
  const requested = gantryOf(call).whatIf(administrator('root'), checked(whatIfRequest, request), null)
  await showWhatIf(call, await answered(call, requested))
  return EXIT.ok
}

/** A slow answer, or a script's, is the result of a job. */
async function answered<T>(call: Call, requested: Promise<Answered<T>>): Promise<T> {
  const found = await requested
  if ('answer' in found) return found.answer
  call.terminal.err(`Job ${found.job} looks for the answer`)
  const [result] = await call.jobs.wait(found.job)
  // The result of such a job is the answer to the question.
  return result as T
}

/** From `-t`, `--memory` and related options. */
function specification(options: OptionValues): object {
  const disk_template = options.text('disk_template')
  const memory_mib = options.number('memory')
  if (disk_template === undefined)
    throw new CommandFailure('--disk-template: say how the disks of an instance are stored')
  if (memory_mib === undefined) throw new CommandFailure('--memory: say how much an instance has, like 2g')
  const disks = options.list('disks')?.map((text, at) => diskSize(text, `disk ${at}`))
  const spindles = options.list('disk_spindles')?.map((text) => enforceType('disk-spindles', text, 'int'))
  return {
    ...{ disk_template, memory_mib, vcpus: options.number('vcpus') ?? 1 },
    ...{
      disks_mib: disks,
      disks_spindles: spindles,
      spindle_use: options.number('spindle_use'),
    },
    ...{ tags: options.list('tags'), networks: options.list('networks') },
  }
}

/** Without omitted options; parsed as the remote API does. */
function checked<T>(shape: Shape<T>, request: unknown): T {
  try {
    return shape.parse(JSON.parse(JSON.stringify(request)))
  } catch (error) {
    if (error instanceof Mismatch) throw new CommandFailure(error.message)
    throw error
  }
}
