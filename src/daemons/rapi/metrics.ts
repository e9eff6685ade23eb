// /metrics for Prometheus. Figures that Ganeti's exporter also has get its names. Ours begin with gantry_ and have base
// units. Objects are queried for the caller, so that a token with a scope measures only what it may see.
import type { Middleware } from '../../http/application'
import { retryAfter } from '../../http/errors'
import { AggregatorRegistry, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Clock } from '../../lib/clock'
import type { Log } from '../../lib/log'
import { RETRY_AFTER_S } from '../../model/limits/http'
import { METRICS_JOBS_MAX } from '../../model/limits/rapi'
import { VIEW_PAGE_MAX } from '../../model/limits/rapi-v3'
import type { QueryResource } from '../../rpc/luxi/calls'
import type { Identity } from '../../rpc/luxi/gantry'
import type { GantryMaster } from '../../rpc/luxi/gantry-calls'
import { monitoringMetrics } from './monitoring-metrics'
import type { IdentifyCaller } from './v3/identity'
import { CHALLENGE, problemOf } from './v3/problem'

/** Calls that wait on purpose say nothing about the master's speed. */
const WAITING: ReadonlySet<PropertyKey> = new Set(['waitForJobChange', 'events'])

export class RapiMetrics {
  private readonly registry = new Registry()
  private readonly requests = new Counter({
    name: 'gantry_http_requests_total',
    help: 'Requests that were answered',
    labelNames: ['api', 'method', 'status'],
    registers: [this.registry],
  })
  private readonly durations = new Histogram({
    name: 'gantry_http_request_duration_seconds',
    help: 'Time from the request to the end of its answer; without streams',
    labelNames: ['api'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers: [this.registry],
  })
  private readonly calls = new Histogram({
    name: 'gantry_master_call_duration_seconds',
    help: 'Time that the master daemon took to answer a call',
    labelNames: ['call'],
    buckets: [0.0005, 0.002, 0.01, 0.05, 0.25, 1, 5],
    registers: [this.registry],
  })

  constructor(private readonly clock: Clock) {}

  readonly observe: Middleware = (request, response, next) => {
    const start_ms = this.clock.monotonic_ms()
    const api = apiOf(request.url ?? '')
    response.once('finish', () => {
      this.requests.inc({
        api,
        method: METHODS.has(request.method ?? '') ? request.method : 'other',
        status: response.statusCode,
      })
      if (response.getHeader('content-type') !== 'text/event-stream')
        this.durations.observe({ api }, (this.clock.monotonic_ms() - start_ms) / 1000)
    })
    next()
  }

  /** Wraps the object so that its calls are measured. */
  measured<T extends object>(target: T): T {
    return new Proxy(target, {
      get: (object, name) => {
        const value: unknown = Reflect.get(object, name, object)
        if (typeof value === 'object' && value !== null) return this.measured(value)
        if (typeof value !== 'function') return value
        if (WAITING.has(name)) return (...args: readonly unknown[]): unknown => Reflect.apply(value, object, args)
        return (...args: readonly unknown[]): unknown => {
          const start_ms = this.clock.monotonic_ms()
          const answer: unknown = Reflect.apply(value, object, args)
          if (!(answer instanceof Promise)) return answer
          return answer.finally(() => {
            this.calls.observe({ call: String(name) }, (this.clock.monotonic_ms() - start_ms) / 1000)
          })
        }
      },
    })
  }

  now_ms(): number {
    return this.clock.now_ms()
  }

  text(): Promise<string> {
    return this.registry.metrics()
  }
}

export interface MetricsOptions {
  readonly metrics: RapiMetrics
  readonly gantry: GantryMaster
  readonly identify: IdentifyCaller
  readonly log: Log
}

export const serveMetrics =
  ({ metrics, gantry, identify, log }: MetricsOptions): Middleware =>
  async (request, response) => {
    try {
      const { identity } = await identify(request, response)
      const reported = gantry.metrics(identity)
      const [cluster, daemons] = await Promise.all([
        clusterMetrics(gantry, identity, metrics.now_ms(), reported),
        daemonMetrics(reported, metrics),
      ])
      response.writeHead(200, { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE, 'Cache-Control': 'no-store' })
      response.end(`${cluster}\n${daemons}`)
    } catch (error) {
      const problem = problemOf(error, log)
      if (problem.status === 401) response.setHeader('WWW-Authenticate', CHALLENGE)
      const headers = {
        'Content-Type': 'application/problem+json',
        ...retryAfter(problem.status, error, RETRY_AFTER_S),
      }
      response.writeHead(problem.status, headers).end(JSON.stringify(problem))
    }
  }

async function clusterMetrics(
  gantry: GantryMaster,
  identity: Identity,
  now_ms: number,
  reported: Told,
): Promise<string> {
  const all = (what: QueryResource, fields: readonly string[]) => allRows(gantry, identity, what, fields)
  const [{ name }, measured, nodes, instances, jobs, locks, figures] = await Promise.all([
    gantry.cluster(identity),
    gantry.measuredNodes(identity),
    all('node', ['name', 'offline', ...NODE_VALUES, 'seen']),
    all('instance', ['name', 'oper_state', 'pnode', 'snodes', ...INSTANCE_VALUES]),
    all('job', ['id', 'status', 'summary', 'received_ts', 'start_ts', 'end_ts']),
    all('lock', ['owner', 'pending']),
    reported,
  ])
  const registry = new Registry()
  registry.setDefaultLabels({ cluster: String(name) })
  const gauge: NewGauge = (title, help, labelNames = []) =>
    new Gauge({ name: title, help, labelNames: [...labelNames], registers: [registry] })
  const offline = nodes.filter((row) => row[1] === true).length
  gauge('ganeti_cluster_node_count', 'Nodes').set(nodes.length)
  gauge('ganeti_cluster_offline_nodes', 'Nodes that are marked offline').set(offline)
  gauge('ganeti_cluster_instance_count', 'Instances').set(instances.length)
  jobMetrics(gauge, jobs)
  nodeMetrics(gauge, nodes, instances)
  ageMetrics(gauge, nodes, now_ms)
  monitoringMetrics(gauge, measured)
  for (const [index, value] of INSTANCE_VALUES.entries()) {
    const values = gauge(`ganeti_instance_${value}`, INSTANCE_HELP[value], ['instance'])
    for (const row of instances) setNumber(values, { instance: String(row[0]) }, row[1] === false ? 0 : row[index + 4])
  }
  if (figures !== null) lockMetrics(gauge, locks)
  return registry.metrics()
}

function lockMetrics(gauge: NewGauge, locks: Rows): void {
  gauge('gantry_locks_held', 'Locks that someone holds').set(locks.filter(([owner]) => lengthOf(owner) > 0).length)
  gauge('gantry_lock_waiters', 'Requests that wait for a lock').set(
    locks.reduce((sum, [, pending]) => sum + lengthOf(pending), 0),
  )
}

type NewGauge = (title: string, help: string, labelNames?: readonly string[]) => Gauge
type Rows = readonly (readonly unknown[])[]

function nodeMetrics(gauge: NewGauge, nodes: Rows, instances: Rows): void {
  for (const [index, value] of NODE_VALUES.entries()) {
    const values = gauge(`ganeti_node_${value}`, NODE_HELP[value], ['node'])
    for (const row of nodes) setNumber(values, { node: String(row[0]) }, row[index + 2])
  }
  const [primary, secondary] = [new Map<string, number>(), new Map<string, number>()]
  const add = (sums: Map<string, number>, node: unknown, vcpus: unknown) =>
    sums.set(String(node), (sums.get(String(node)) ?? 0) + Number(vcpus))
  for (const [, running, pnode, snodes, , vcpus] of instances) {
    if (running !== true) continue
    add(primary, pnode, vcpus)
    for (const node of Array.isArray(snodes) ? (snodes as unknown[]) : []) add(secondary, node, vcpus)
  }
  const ofPrimaries = gauge('ganeti_node_p_oper_vcpus', 'Virtual processors of primary instances that run', ['node'])
  const ofOthers = gauge('ganeti_node_s_oper_vcpus', 'Virtual processors of secondary instances that run', ['node'])
  for (const [name] of nodes) {
    ofPrimaries.set({ node: String(name) }, primary.get(String(name)) ?? 0)
    ofOthers.set({ node: String(name) }, secondary.get(String(name)) ?? 0)
  }
}

/**
 * The age of the nodes' figures, because the metrics do not wait for nodes. A node that has never answered has no
 * figure.
 */
function ageMetrics(gauge: NewGauge, nodes: Rows, now_ms: number): void {
  const help = 'Seconds since the node sent the figures that are shown for it and its instances'
  const ages = gauge('gantry_node_answer_age_seconds', help, ['node'])
  for (const row of nodes) {
    const seen_ms = Date.parse(String(row.at(-1)))
    setNumber(ages, { node: String(row[0]) }, Math.max(0, (now_ms - seen_ms) / 1000))
  }
}

function jobMetrics(gauge: NewGauge, jobs: Rows): void {
  const byStatus = gauge('ganeti_cluster_jobs', 'Jobs that are not archived', ['job_status'])
  for (const status of STATUSES) byStatus.set({ job_status: status }, jobs.filter((row) => row[1] === status).length)
  const wait = gauge('ganeti_job_wait_time', 'Seconds that a job waited before it started', ['job_id', 'job_operation'])
  const run = gauge('ganeti_job_run_time', 'Seconds that a job ran', ['job_id', 'job_operation'])
  for (const [id, , summary, received, start, end] of jobs.slice(-METRICS_JOBS_MAX)) {
    const labels = { job_id: String(id), job_operation: operationOf(summary) }
    setNumber(wait, labels, between(received, start))
    setNumber(run, labels, between(start, end))
  }
}

/** Figures of daemons. Null for a token with a scope: they show the work of everybody. */
type Told = ReturnType<GantryMaster['metrics']>

/** The figures of all daemons, and of this one. Figures with the same name and labels are added up. */
async function daemonMetrics(ofOthers: Told, own: RapiMetrics): Promise<string> {
  const reported = await ofOthers
  if (reported === null) return ''
  // The package's types say that it takes one object, but it takes one for each daemon.
  const aggregate = AggregatorRegistry.aggregate as (all: readonly unknown[]) => Registry
  const texts = await Promise.all([aggregate(reported).metrics(), own.text()])
  return texts.join('\n')
}

async function allRows(
  gantry: GantryMaster,
  identity: Identity,
  what: QueryResource,
  fields: readonly string[],
): Promise<(readonly unknown[])[]> {
  const rows: (readonly unknown[])[] = []
  for (let after: string | null = null; ;) {
    const page = await gantry.view(identity, {
      what,
      name: null,
      fields,
      filter: null,
      after,
      limit: VIEW_PAGE_MAX,
      known: true,
      sort: null,
    })
    rows.push(...page.rows)
    if (page.next === null) return rows
    after = page.next
  }
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])
const STATUSES = ['queued', 'waiting', 'canceling', 'running', 'canceled', 'success', 'error']
const NODE_VALUES = ['ctotal', 'dfree', 'dtotal', 'mfree', 'mtotal', 'pinst_cnt', 'sinst_cnt'] as const
const NODE_HELP = {
  ctotal: 'Logical processors of the node',
  dfree: 'Free disk space of the node in MiB',
  dtotal: 'Disk space of the node in MiB',
  mfree: 'Free memory of the node in MiB',
  mtotal: 'Memory of the node in MiB',
  pinst_cnt: 'Instances that have the node as primary',
  sinst_cnt: 'Instances that have the node as secondary',
}
const INSTANCE_VALUES = ['oper_ram', 'oper_vcpus'] as const
const INSTANCE_HELP = {
  oper_ram: 'Memory that the instance uses in MiB; 0 when it does not run',
  oper_vcpus: 'Virtual processors that the instance uses; 0 when it does not run',
}

function setNumber(gauge: Gauge, labels: Record<string, string>, value: unknown): void {
  if (typeof value === 'number' && Number.isFinite(value)) gauge.set(labels, value)
}

/** `["INSTANCE_CREATE(vm1)"]` -> `OP_INSTANCE_CREATE`. Uses summaries, which are much shorter than opcodes. */
function operationOf(summary: unknown): string {
  const first: unknown = Array.isArray(summary) ? summary[0] : undefined
  return typeof first === 'string' ? `OP_${first.split('(')[0] ?? ''}` : 'unknown'
}

/** Between two `[seconds, microseconds]`. */
function between(from: unknown, to: unknown): number | undefined {
  const [start, end] = [from, to].map((value) =>
    Array.isArray(value) ? Number(value[0]) + Number(value[1]) / 1e6 : undefined,
  )
  return start === undefined || end === undefined ? undefined : end - start
}

const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 0)

function apiOf(url: string): string {
  return /^\/(2|3|docs|metrics)\b/.exec(url)?.[1] ?? 'other'
}
