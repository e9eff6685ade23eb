// The surroundings of jobs in a cluster in memory: nodes that answer, a wconfd that knows some calls, and the rest of an
// environment.
import { clockAt } from './instant-clock'
import { fromParts } from '../../src/allocation/questions/question-parts'
import { answerQuestion } from '../../src/allocation/questions/questions'
import { silentLog } from '../../src/lib/log'
import { pathsOf } from '../../src/lib/paths'
import { seededRandom } from '../../src/lib/random'
import type { TaskParts } from '../../src/lib/work/worker-pool'
import { GenericError } from '../../src/model/errors'
import type { JobEnvironment } from '../../src/operations/environment'
import type { WireOpCode } from '../../src/rpc/luxi/calls'
import { type ArgsOf, type CallName, type ResultOf, callOf } from '../../src/rpc/node/calls'
import { NodeCallError, type NodeClient, type NodeResult, type NodeTarget } from '../../src/rpc/node/client'
import type { Wconfd } from '../../src/rpc/wconfd/calls'

/** Does the work of an allocation thread in this process. */
export async function thinkHere(parts: TaskParts): Promise<unknown> {
  const list: unknown[] = []
  for await (const part of parts) list.push(part)
  const { data, question, options } = fromParts(list)
  return answerQuestion(data, question, options)
}

/** The job's process is gone: nothing after this happens. */
export class Killed extends Error {}

/** The node's daemon ended before it answered. It may have carried out the call. */
export class AnswerLost extends Error {}

type Answer = <C extends CallName>(node: NodeTarget, call: C, args: ArgsOf<C>) => ResultOf<C> | Promise<ResultOf<C>>

/** If the function throws, the node answers with that error. Offline nodes are not asked. */
export function nodesThatAnswer(answer: Answer): NodeClient {
  const ask = async <C extends CallName>(
    node: NodeTarget,
    call: C,
    args: ArgsOf<C>,
  ): Promise<NodeResult<ResultOf<C>>> => {
    if (node.offline && !callOf(call).offlineToo) return { ok: false, error: 'Node is marked offline', offline: true }
    try {
      return { ok: true, payload: await answer(node, call, args) }
    } catch (error) {
      if (error instanceof Killed) throw error
      const failed = {
        ok: false,
        error: error instanceof Error ? error.message : String(error),
        offline: false,
      } as const
      return error instanceof AnswerLost ? { ...failed, lost: true } : failed
    }
  }
  return {
    async one(node, call, args) {
      const result = await ask(node, call, args)
      if (result.ok) return result.payload
      throw new NodeCallError(node.name, call, result.error, result.offline)
    },
    async all(nodes, call, args) {
      const answers = new Map<NodeTarget['uuid'], NodeResult<ResultOf<typeof call>>>()
      for (const node of nodes)
        answers.set(node.uuid, await ask(node, call, typeof args === 'function' ? args(node) : args))
      return answers
    },
    close: () => undefined,
  }
}

/** A wconfd that answers only these calls. `alive` is called before each. */
export function wconfdOf(calls: Partial<Wconfd>, alive: (call: string) => void = () => undefined): Wconfd {
  return new Proxy(calls, {
    get: (target, name) => {
      const call: unknown = Reflect.get(target, name)
      return async (...args: unknown[]) => {
        alive(String(name))
        if (typeof call !== 'function') throw new GenericError(`no ${String(name)} in this test`)
        return Reflect.apply(call, target, args) as unknown
      }
    },
  }) as Wconfd
}

type Given = Partial<JobEnvironment> & {
  readonly wconfd: Wconfd
  readonly nodes: NodeClient
  /** The lines of the job's log. */
  readonly said: string[]
  /** The jobs that it submits. */
  readonly submitted: (readonly WireOpCode[])[]
}

export const jobEnvironment = ({ said, submitted, ...input }: Given): JobEnvironment => ({
  ...{
    jobId: 1,
    opIndex: 0,
    client: [1, '/livelock', 1],
    priority: () => 0,
    onPriority: () => () => undefined,
    secrets: {},
  },
  ...{
    clock: clockAt(1_000_000),
    random: seededRandom(9),
    paths: pathsOf('', 'node1.example.com'),
    processLog: silentLog,
  },
  cancelled: new AbortController().signal,
  log: (_type, message) => void said.push(String(message)),
  note: () => undefined,
  started: () => Promise.resolve(),
  think: thinkHere,
  retrying: () => Promise.resolve(),
  async submitJobs(jobs) {
    submitted.push(...jobs)
    return jobs.map((_, index) => [true, 100 + index])
  },
  ...input,
})
