// Asking an allocator: the built-in one, or a script that the administrator has installed on the master.
import { ALLOC_DEFAULTS } from '../../allocation/allocate'
import { answer } from '../../allocation/answer'
import { buildModel } from '../../allocation/cluster-model'
import { parseRequest } from '../../allocation/request-json'
import type { ConfigData } from '../../model/config'
import { BUILTIN_IALLOCATOR } from '../../model/constants/words'
import { OpExecError } from '../../model/errors'
import type { UnitContext } from '../unit-context'
import { clusterData, type LiveQuestion } from './cluster-data'

/** As the protocol has it: `type`, and what belongs to that. */
export type AllocatorRequest = Readonly<Record<string, unknown>> & { readonly type: string }

export interface AllocatorAnswer {
  readonly success: boolean
  readonly info: string
  readonly result: unknown
}

/** The whole input of an allocator. */
export async function allocatorInput(
  ctx: UnitContext,
  request: AllocatorRequest,
  question: Partial<LiveQuestion> = {},
): Promise<{ config: ConfigData; text: string }> {
  const config = await ctx.config.read({ nodes: 'all', instances: 'all', groups: 'all', networks: 'all' })
  const { enabled_hypervisors, enabled_disk_templates } = config.cluster
  const hypervisor = question.hypervisor ?? enabled_hypervisors[0] ?? 'fake'
  const template = question.template ?? enabled_disk_templates[0] ?? 'diskless'
  const data = await clusterData(ctx, config, { hypervisor, template })
  return { config, text: JSON.stringify({ ...data, request }) }
}

export async function askAllocator(
  ctx: UnitContext,
  allocator: string,
  request: AllocatorRequest,
  question: Partial<LiveQuestion> = {},
): Promise<AllocatorAnswer> {
  const { config, text } = await allocatorInput(ctx, request, question)
  return parseAnswer(await allocatorOutput(ctx, config, allocator, text))
}

/** What the allocator printed. */
export async function allocatorOutput(
  ctx: UnitContext,
  config: ConfigData,
  allocator: string,
  text: string,
): Promise<string> {
  if (allocator === BUILTIN_IALLOCATOR) {
    const { data, request } = parseRequest(text, 0)
    return JSON.stringify(answer(buildModel(data), request, ALLOC_DEFAULTS))
  }
  const { master_node, default_iallocator_params: params } = config.cluster
  const master = config.nodes[master_node]
  if (master === undefined) throw new OpExecError('The master node is not in the configuration')
  const what = 'Failure while running the iallocator script'
  return ctx.nodes.call(master, what, 'iallocator_runner', [allocator, text, params])
}

function parseAnswer(text: string): AllocatorAnswer {
  const fail = (why: string) => new OpExecError(`Can't parse iallocator results: ${why}`)
  const value = read(text, fail)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw fail('not a dict')
  // Very old scripts say `nodes`.
  const fields: Readonly<Record<string, unknown>> = { ...('nodes' in value && { result: value.nodes }), ...value }
  for (const key of ['success', 'info', 'result']) if (!(key in fields)) throw fail(`missing key '${key}'`)
  return { success: fields['success'] === true, info: String(fields['info']), result: fields['result'] }
}

function read(text: string, fail: (why: string) => Error): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw fail(error instanceof Error ? error.message : String(error))
  }
}
