// A cluster in memory for tests of operations: one configuration that real changes change, nodes that answer what the test
// says, and everything that was asked for.
import { applyChange, type NamedChange } from '../../src/config/changes'
import { slice } from '../../src/config/slice'
import { EMPTY_GANTRY } from '../../src/config/upgrade'
import { systemClock, type Clock } from '../../src/lib/clock'
import { seededRandom } from '../../src/lib/random'
import type { ConfigData, Documents, GantryData, Node } from '../../src/model/config'
import type { JobEnvironment } from '../../src/operations/environment'
import { runOpcode } from '../../src/operations/processor'
import type { WireOpCode } from '../../src/rpc/luxi/calls'
import type { ArgsOf, CallName, ResultOf } from '../../src/rpc/node/calls'
import type { NodeClient, NodeTarget } from '../../src/rpc/node/client'
import type { LockRequest, ReplicaStatus, Wconfd } from '../../src/rpc/wconfd/calls'
import { jobEnvironment, nodesThatAnswer, wconfdOf } from './job-surroundings'

type Answers = { [C in CallName]?: (node: NodeTarget, args: ArgsOf<C>) => ResultOf<C> }

export class FakeCluster {
  private documents: Documents
  /** The answers of nodes. A call that throws or is missing fails like an error of the node. */
  readonly answers: Answers = { hooks_runner: () => [] }
  readonly asked: { node: string; call: CallName; args: readonly unknown[] }[] = []
  readonly log: string[] = []
  readonly lockRequests: LockRequest[][] = []
  readonly changes: NamedChange[] = []
  readonly submitted: (readonly WireOpCode[])[] = []
  readonly files = new Map<string, string>()
  replicas: ReplicaStatus[] = []
  lockOwners: Awaited<ReturnType<Wconfd['listAllLocksOwners']>> = []
  flushes = 0
  clock: Clock = systemClock
  queries: JobEnvironment['queries']

  constructor(config: ConfigData) {
    this.documents = { config, gantry: EMPTY_GANTRY }
  }

  get config(): ConfigData {
    return this.documents.config
  }

  get gantry(): GantryData {
    return this.documents.gantry
  }

  /** Applies changes as if somebody else had made them. */
  given(...changes: readonly NamedChange[]): this {
    for (const one of changes) this.apply(one)
    return this
  }

  run(op: WireOpCode): Promise<unknown> {
    return runOpcode({ priority: 0, reason: [], ...op }, this.environment())
  }

  node(name: string): Node {
    const node = Object.values(this.config.nodes).find((one) => one.name === name)
    if (node === undefined) throw new Error(`no node ${name}`)
    return node
  }

  calls(call: CallName): { node: string; args: readonly unknown[] }[] {
    return this.asked.filter((one) => one.call === call)
  }

  private apply(one: NamedChange): unknown {
    const step = applyChange(this.documents, one, { now_s: 5000, random: seededRandom(5) })
    this.documents = step.documents
    return step.result
  }

  private environment(): JobEnvironment {
    return jobEnvironment({
      ...{ wconfd: this.wconfd(), nodes: this.nodes(), clock: this.clock, said: this.log, submitted: this.submitted },
      ...(this.queries && { queries: this.queries }),
      masterFile: async (path) => this.files.get(path),
    })
  }

  private wconfd(): Wconfd {
    return wconfdOf({
      gantryRead: async (selector) => slice(this.config, selector),
      gantrySection: async (section) => this.gantry.sections[section] ?? {},
      readConfig: async () => this.config,
      gantryChange: async (_client, _epoch, changes) => {
        this.changes.push(...changes)
        return changes.map((one) => this.apply(one))
      },
      gantryAcquire: async (_client, _priority, request) => {
        this.lockRequests.push([...request])
        return { epoch: 1 }
      },
      gantryFreeAll: async () => null,
      freeLocksLevel: async () => null,
      downGradeLocksLevel: async () => null,
      tryUpdateLocks: async () => [],
      dropAllReservations: async () => null,
      gantryCancelRequest: async () => null,
      gantryReplicas: async () => this.replicas,
      listAllLocksOwners: async () => this.lockOwners,
      flushConfig: async () => {
        this.flushes++
        return null
      },
      computeDRBDMap: async () => [],
    })
  }

  private nodes(): NodeClient {
    return nodesThatAnswer((node, call, args) => {
      this.asked.push({ node: node.name, call, args })
      const answer = this.answers[call]
      if (answer === undefined) throw new Error(`no answer to ${call}`)
      return answer(node, args)
    })
  }
}
