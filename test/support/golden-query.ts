// A query source of the recorded cluster: its configuration, some of its jobs, and the answers of its nodes.
import * as fs from 'node:fs'
import { objectsOfJob } from '../../src/jobs/ended-jobs'
import { opcodeSummary } from '../../src/opcodes/summary'
import * as path from 'node:path'
import { loadConfig } from '../../src/config/upgrade'
import { systemRandom } from '../../src/lib/random'
import { parseJob } from '../../src/jobs/job-file'
import { jobPriority, jobStatus } from '../../src/jobs/job'
import type { ConfigData } from '../../src/model/config'
import type { Node } from '../../src/model/node'
import type { LiveData, LiveResults } from '../../src/query/live-data'
import type { JobOutline, JobView, QuerySource } from '../../src/query/source'
import type { NodeResult } from '../../src/rpc/node/client'
import type { ConsoleInfo, InstanceRuntime, NodeInfo, OsDiagnosis } from '../../src/rpc/node/dicts'

const GOLDEN = path.join(__dirname, '../golden')
const QUERY = path.join(GOLDEN, 'query')

export const readJson = (file: string): unknown => JSON.parse(fs.readFileSync(file, 'utf8'))

export const goldenConfig = (): ConfigData =>
  loadConfig(fs.readFileSync(path.join(GOLDEN, 'state/config.data'), 'utf8'), systemRandom).config

interface Recorded {
  nodeInfo: Record<string, NodeInfo>
  instanceInfo: Record<string, Record<string, InstanceRuntime>>
  consoles: Record<string, Record<string, ConsoleInfo>>
  exports: Record<string, string[]>
  operatingSystems: Record<string, OsDiagnosis[]>
}

let liveText: string | undefined

/** Counts the questions, so that tests can check that there were none. */
export class GoldenLive implements LiveData {
  readonly asked: { call: string; nodes: string[] }[] = []
  /** Nodes that do not answer. */
  readonly down = new Set<string>()
  readonly recorded = JSON.parse((liveText ??= fs.readFileSync(path.join(QUERY, 'live.json'), 'utf8'))) as Recorded

  async nodeInfo(_config: ConfigData, nodes: readonly Node[]) {
    return this.answer('nodeInfo', nodes, this.recorded.nodeInfo)
  }
  async instanceInfo(_config: ConfigData, nodes: readonly Node[]) {
    return this.answer('instanceInfo', nodes, this.recorded.instanceInfo)
  }
  async consoles(config: ConfigData, instances: readonly { primary_node: string }[]) {
    const uuids = new Set(instances.map(({ primary_node }) => primary_node))
    const nodes = Object.values(config.nodes).filter((node) => uuids.has(node.uuid))
    return this.answer('consoles', nodes, this.recorded.consoles)
  }
  async exports(nodes: readonly Node[]) {
    return this.answer('exports', nodes, this.recorded.exports)
  }
  async operatingSystems(nodes: readonly Node[]) {
    return this.answer('operatingSystems', nodes, this.recorded.operatingSystems)
  }
  async extStorage(nodes: readonly Node[]) {
    return this.answer<never[]>('extStorage', nodes, {})
  }

  private answer<T>(call: string, nodes: readonly Node[], byName: Record<string, T>): LiveResults<T> {
    this.asked.push({ call, nodes: nodes.map(({ name }) => name) })
    return new Map(nodes.map((node) => [node.uuid, this.one(node, byName[node.name])]))
  }

  private one<T>(node: Node, payload: T | undefined): NodeResult<T> {
    if (node.offline) return { ok: false, error: 'Node is marked offline', offline: true }
    if (payload === undefined || this.down.has(node.name)) return { ok: false, error: 'no answer', offline: false }
    return { ok: true, payload }
  }
}

const ARCHIVED = new Set([1, 2])

function goldenJobs(): JobView[] {
  return fs.readdirSync(path.join(QUERY, 'jobs')).map((name) => {
    const job = parseJob(fs.readFileSync(path.join(QUERY, 'jobs', name), 'utf8'))
    const tokens: string[] = []
    const derived = { status: jobStatus(job), priority: jobPriority(job), objects: objectsOfJob(job) }
    return { ...job, ...derived, archived: ARCHIVED.has(job.id), tokens }
  })
}

const outlined = (job: JobView): JobOutline => ({
  ...job,
  ops: job.ops.map(({ input, ...state }) => ({
    ...{ ...state, OP_ID: input.OP_ID, summary: opcodeSummary(input) },
  })),
})

/** Read only once, because reading is the slowest part of tests that make a source for each case, and nothing changes it. */
let kept: { readonly config: ConfigData; readonly jobs: readonly JobView[] } | undefined
const keep = () => (kept ??= { config: goldenConfig(), jobs: goldenJobs() })

export function goldenSource(config = keep().config): QuerySource & { readonly live: GoldenLive } {
  const { jobs } = keep()
  return {
    config,
    live: new GoldenLive(),
    jobs: {
      all: async ({ archived }) => jobs.filter((job) => archived || !job.archived).map(outlined),
      known: (id) => jobs.filter((job) => job.id === id && !job.archived).map(outlined)[0],
      one: async (id) => jobs.find((job) => job.id === id),
    },
    locks: { locks: async () => [] },
    cluster: { drained: false, watcherPause: null, architecture: ['64bit', 'x86_64'] },
  }
}
