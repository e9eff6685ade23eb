// Asks an allocator in Ganeti's iallocator protocol: a script that the administrator has installed on the master, or
// the built-in one. Operations call the built-in one directly; tests of allocators use the protocol.
import { ALLOC_DEFAULTS } from '../../allocation/model/options'
import { answer } from '../../allocation/questions/answer'
import { buildModel } from '../../allocation/model/cluster-model'
import { parseRequest } from '../../allocation/sources/request-json'
import { startOf } from '../../lib/text/short-text'
import { errorText } from '../../lib/system-failure'
import type { ConfigData } from '../../model/config'
import { BUILTIN_IALLOCATOR } from '../../model/constants/words'
import { ECODE, OpExecError, OpPrereqError } from '../../model/errors'
import { TOLD_CHARS_MAX } from '../../model/limits/node'
import type { UnitContext } from '../unit-context'
import { clusterData } from './cluster-data'
import { countedTemplate } from '../../model/templates'

/** A request in the allocator protocol: its `type`, and the fields of that type. */
export type AllocatorRequest = Readonly<Record<string, unknown>> & { readonly type: string }

export interface Question {
  /** What the script computes, for error messages: `nodes`. */
  readonly what: string
  readonly request: AllocatorRequest
  /** Templates of the instances in question. */
  readonly templates?: readonly string[]
  /** Options of the script in addition to the cluster's; null means no value. */
  readonly options?: Readonly<Record<string, string | null>>
}

/** The script's result and message. Throws OpPrereqError if the script found nothing. */
export async function askScript(ctx: UnitContext, script: string, question: Question): Promise<Answer> {
  const answer = await answerOfScript(ctx, script, question)
  if (answer.success) return answer
  throw new OpPrereqError(`Can't compute ${question.what} using iallocator '${script}': ${answer.info}`, ECODE.NORES)
}

/** The same, also if it found nothing. */
export async function answerOfScript(ctx: UnitContext, script: string, question: Question): Promise<Answer> {
  const { config, text } = await allocatorInput(ctx, question)
  return parseAnswer(await allocatorOutput(ctx, config, script, { text, ...question }))
}

/** The whole input of an allocator. */
export async function allocatorInput(
  ctx: UnitContext,
  { request, templates }: Pick<Question, 'request' | 'templates'>,
): Promise<{ config: ConfigData; text: string }> {
  const config = await ctx.config.read({ nodes: 'all', instances: 'all', groups: 'all', networks: 'all' })
  const counted = countedTemplate(config.cluster, templates)
  return { config, text: JSON.stringify({ ...(await clusterData(ctx, config, counted)), request }) }
}

/** The allocator's output. */
export async function allocatorOutput(
  ctx: UnitContext,
  config: ConfigData,
  allocator: string,
  { text, options }: { readonly text: string } & Pick<Question, 'options'>,
): Promise<string> {
  if (allocator === BUILTIN_IALLOCATOR) {
    const { data, request } = parseRequest(text, 0)
    return JSON.stringify(answer(buildModel(data), request, ALLOC_DEFAULTS))
  }
  const { master_node, default_iallocator_params } = config.cluster
  const master = config.nodes[master_node]
  if (master === undefined) throw new OpExecError('The master node is not in the configuration')
  const args = [allocator, text, { ...default_iallocator_params, ...options }] as const
  return ctx.nodes.call(master, 'Failure while running the iallocator script', 'iallocator_runner', [...args])
}

export interface Answer {
  readonly success: boolean
  readonly info: string
  readonly result: unknown
}

function parseAnswer(text: string): Answer {
  const fail = (why: string) => new OpExecError(`Can't parse iallocator results: ${why}`)
  const value = read(text, fail)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw fail('not a dict')
  // Very old scripts write `nodes`.
  const fields: Readonly<Record<string, unknown>> = { ...('nodes' in value && { result: value.nodes }), ...value }
  for (const key of ['success', 'info', 'result']) if (!(key in fields)) throw fail(`missing key '${key}'`)
  return {
    success: fields['success'] === true,
    info: startOf(String(fields['info']), TOLD_CHARS_MAX),
    result: fields['result'],
  }
}

function read(text: string, fail: (why: string) => Error): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw fail(errorText(error))
  }
}
