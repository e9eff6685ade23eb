// Steps in the life of the cluster of `storage-cluster.ts`. Each step begins with the recorded configuration, and nodes give the recorded
// answers. Simulated nodes answer the calls that were not recorded.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { answerChecks } from '../../src/daemons/sim/checks'
import { GanetiError } from '../../src/model/errors'
import { type FakeCluster, simulatedCluster } from './fake-cluster'
import { clockAt } from './instant-clock'
import { recordedStorage } from './storage-cluster'
import { deviceText } from './storage-texts'

type Objects = Readonly<Record<string, unknown>>
/** Keyed by section and name. Null means that there is no such object. */
type Changes = Readonly<Record<string, Objects>>

export interface Job {
  readonly op: Objects & { readonly OP_ID: string }
  readonly result: unknown
  readonly log: readonly string[]
}

type Call = readonly [text: string, answer?: unknown]

export interface Step {
  readonly name: string
  /** The time when it began, in seconds. */
  readonly at: number
  /** Nodes without power, and the error with which calls end. */
  readonly dead?: Readonly<Record<string, string>>
  /** Instances that are marked as up, but do not run. */
  readonly stopped?: readonly string[]
  /** Changes of the configuration since the previous step, and by this step. */
  readonly before?: Changes
  readonly after?: Changes
  readonly jobs: readonly Job[]
  readonly calls: readonly Call[]
  readonly made?: readonly string[]
}

export interface Chapter {
  readonly step: Step
  readonly before: string
  readonly after: string
}

/** The steps with the configuration before and after each. */
export function chapters(): Chapter[] {
  const file = path.join(__dirname, '../golden/storage/steps.json')
  const steps = JSON.parse(fs.readFileSync(file, 'utf8')) as readonly Step[]
  let config = recordedStorage.config as Changes
  return steps.map((step) => {
    const before = (config = changed(config, step.before))
    const after = (config = changed(config, step.after))
    return { step, before: JSON.stringify(before), after: JSON.stringify(after) }
  })
}

function changed(config: Changes, changes: Changes = {}): Changes {
  const sections = Object.entries(changes).map(([section, objects]) => {
    const all = Object.entries({ ...config[section], ...objects })
    return [section, Object.fromEntries(all.filter(([, object]) => object !== null))] as const
  })
  return { ...config, ...Object.fromEntries(sections) }
}

export function clusterOf({ step, before }: Chapter): FakeCluster {
  const cluster = simulatedCluster(before)
  cluster.clock = clockAt(step.at * 1000)
  const nodes = Object.values(cluster.config.nodes)
  cluster.replicas = nodes.map(({ uuid, name }) => ({ node: uuid, name, state: 'in sync', reason: null }))
  // In the recordings, no guest ran whose disks did not count as active.
  const inactive = Object.values(cluster.config.instances).filter((one) => one.disks.length > 0 && !one.disks_active)
  const stopped = [...(step.stopped ?? []), ...inactive.map(({ name }) => name)]
  for (const { name } of nodes) for (const instance of stopped) cluster.world.node(name).instances.delete(instance)
  const recorded = new Recorded(step)
  cluster.answers = new Proxy(cluster.answers, {
    get: (input, call: string) => async (node: { readonly name: string }, args: readonly unknown[]) => {
      const own: unknown = Reflect.get(input, call)
      if (typeof own === 'function') return own(node, args) as unknown
      const answer = recorded.answer(node.name, call, args)
      if (call === 'blockdev_getmirrorstatus_multi' && isObject(answer))
        return disksOf(args).map((uuid) => answer[uuid])
      if (call !== 'node_verify') return answer
      // Only facts about storage were recorded, and those in which nodes differ.
      const well = answerChecks({ world: cluster.world, node: node.name, clock: cluster.clock }, args[0] as Objects)
      return { ...well, ...(isObject(answer) && answer) }
    },
  })
  return cluster
}

/** The recorded answers in their order, by node and call, and by the device of the question. */
class Recorded {
  private readonly answers = new Map<string, unknown[]>()

  constructor(private readonly step: Step) {
    for (const [text, answer = null] of step.calls) {
      const key = text.includes(' blockdev_find ') ? text : text.split(' ').slice(0, 2).join(' ')
      this.answers.set(key, [...(this.answers.get(key) ?? []), answer])
    }
  }

  answer(name: string, call: string, [first]: readonly unknown[]): unknown {
    const [node = ''] = name.split('.')
    const dead = this.step.dead?.[node]
    if (dead !== undefined) throw new Error(dead)
    const key = call === 'blockdev_find' ? `${node} ${call} ${deviceText(first)}` : `${node} ${call}`
    const answers = this.answers.get(key) ?? []
    // The last status is repeated.
    const answer = call === 'impexp_status' && answers.length === 1 ? answers[0] : answers.shift()
    if (isObject(answer) && 'failed' in answer) throw new Error(String(answer['failed']))
    return answer
  }
}

/** The result with which a job ends, as in the job's file. */
export async function ending(cluster: FakeCluster, { op }: Job): Promise<unknown> {
  const { instance_uuid: _uuid, ...input } = op
  try {
    return JSON.parse(JSON.stringify(await cluster.run(input)))
  } catch (error) {
    if (error instanceof GanetiError) return error.toWire()
    throw error
  }
}

const isObject = (value: unknown): value is Objects =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const disksOf = ([disks]: readonly unknown[]): string[] => (disks as { uuid: string }[]).map(({ uuid }) => uuid)
