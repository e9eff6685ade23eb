// Events of instances: created, started, stopped, crashed, moved, removed. Changes by jobs are reported when the job
// ends; all others when a node reports a different state. Both update one picture of the running instances, so that
// nothing is reported twice.
import type { Delta } from '../../config/delta'
import { fillBeParams } from '../../config/filled'
import { findInstance } from '../../config/lookup'
import { type Job, isFinal } from '../../jobs/job'
import type { JobQueue } from '../../jobs/queue'
import type { Clock } from '../../lib/clock'
import type { ConfigData, Instance, NodeUuid } from '../../model/config'
import { isGuestElsewhere } from '../../model/guest-state'
import { ConfigIndex } from '../../query/config-index'
import type { WireOpCode } from '../../rpc/luxi/calls'
import type { InstanceRuntime } from '../../rpc/node/dicts'
import { allOpcodes } from '../../opcodes/index'
import { objectsOf } from '../../opcodes/objects'
import type { Running } from '../../opcodes/opcode'
import type { NewEvent } from './event-history'
import { submitter } from './event-sources'
import type { NodeCache } from '../live-data/node-cache'

interface Picture {
  running: boolean
  node: NodeUuid
}

/** The cause of a change. */
interface Cause {
  readonly job: number
  readonly opcode: string
  readonly user: string | null
  readonly token: string | null
}

/** An opcode that works on an instance. */
interface Worker {
  readonly key: string
  readonly op: Job['ops'][number]
  readonly cause: Cause
}

/** Changes that jobs made to an instance since its node was last asked. */
interface Touched {
  /** Opcodes that are working on it. */
  busy: number
  ended_ms: number
  /** The opcode that may have started or stopped the instance; kept until a node reports the outcome. */
  cause: Cause | null
}

interface Parts {
  readonly queue: Pick<JobQueue, 'job' | 'all'>
  readonly clock: Clock
  readonly known: NodeCache
  config(): ConfigData
  add(event: NewEvent): void
  /** Asks for a look at a node soon. */
  look(node: NodeUuid): void
}

const MOVES: Readonly<Record<string, string>> = { OP_INSTANCE_FAILOVER: 'failed_over', OP_INSTANCE_MIGRATE: 'migrated' }
const USER_DOWN = 1

export class InstanceWatch {
  private readonly pictures = new Map<string, Picture>()
  private readonly touched = new Map<string, Touched>()
  /** By job and running opcode: the uuids of its instances, since it may rename them. */
  private readonly held = new Map<string, readonly string[]>()

  constructor(private readonly parts: Parts) {
    parts.known.onRunning((node, asked_ms) => this.nodeTold(node, asked_ms))
  }

  /** Called at each change of a job. */
  job(job: Job, before: Job | undefined): void {
    for (const [index, op] of job.ops.entries()) {
      const old = before?.ops[index]?.status
      if (op.status === old) continue
      const begins = op.status === 'running'
      if (!begins && (old !== 'running' || !isFinal(op.status))) continue
      const key = keyOf(job, index)
      if (begins) this.hold(key, this.instancesOf(op.input))
      else this.opEnded(key, op.input, causeIn(job, op.input), op.status === 'success')
    }
  }

  private hold(key: string, instances: readonly Instance[]): void {
    const held = this.held.get(key) ?? []
    const more = instances.map(({ uuid }) => uuid).filter((uuid) => !held.includes(uuid))
    if (more.length === 0) return
    this.held.set(key, [...held, ...more])
    for (const uuid of more) this.touchedBy(uuid).busy++
  }

  /** The opcode ends for the instances with which it began, and for those that it made. */
  private opEnded(key: string, op: WireOpCode, cause: Cause, success: boolean): void {
    const held = this.held.get(key) ?? []
    this.held.delete(key)
    const { instances } = this.parts.config()
    for (const uuid of held) {
      const touched = this.touched.get(uuid)
      if (touched !== undefined) touched.busy = Math.max(0, touched.busy - 1)
    }
    const there = held.flatMap((uuid) => instances[uuid] ?? [])
    const runs = success ? runsAfter(op) : undefined
    for (const instance of new Set([...there, ...this.instancesOf(op)])) {
      this.ended(instance, cause, runs)
      if (success && Object.hasOwn(MOVES, op.OP_ID)) this.arrived(instance)
    }
  }

  /** Called at each change of the configuration. */
  follow(before: ConfigData | undefined, config: ConfigData, delta: Delta | null): void {
    if (before === undefined || delta === null) return
    for (const [uuid, now] of Object.entries(delta.instances ?? {})) {
      const old = before.instances[uuid]
      const was = old?.forthcoming ? undefined : old
      const is = now === null || now.forthcoming ? undefined : now
      if (now === null && old?.forthcoming) this.forget(uuid)
      const { name } = is ?? was ?? {}
      if (name === undefined) continue
      const worker = this.workerOn(name, delta)
      const cause = worker?.cause ?? null
      if (was === undefined && is !== undefined) this.created(is, worker, config)
      else if (was !== undefined && is === undefined) this.removed(was, cause, config)
      else if (was !== undefined && is !== undefined && was.primary_node !== is.primary_node) this.moved(was, is, cause)
    }
  }

  private created(instance: Instance, worker: Worker | undefined, config: ConfigData): void {
    const now = { running: false, node: instance.primary_node }
    this.pictures.set(instance.uuid, now)
    this.tell(instance, 'created', null, now, worker?.cause ?? null, config)
    if (worker === undefined) return
    // The opcode that makes the instance could not name it before; or it has already ended, and the configuration
    // arrives only now.
    const { key, cause, op } = worker
    if (isFinal(op.status)) this.ended(instance, cause, op.status === 'success' ? runsAfter(op.input) : undefined)
    else this.hold(key, [instance])
  }

  private removed(instance: Instance, cause: Cause | null, config: ConfigData): void {
    const before = this.pictures.get(instance.uuid) ?? { running: false, node: instance.primary_node }
    this.forget(instance.uuid)
    this.tell(instance, 'removed', before, null, cause, config)
  }

  private forget(uuid: string): void {
    this.pictures.delete(uuid)
    this.touched.delete(uuid)
  }

  private moved(was: Instance, is: Instance, cause: Cause | null): void {
    const { known } = this.parts
    const running = this.pictures.get(is.uuid)?.running === true
    const runtime = known.runningOn(was.primary_node)?.[was.name]
    if (running && runtime !== undefined) {
      known.correct(was.primary_node, was.name, undefined)
      known.correct(is.primary_node, is.name, runtime)
    }
    const now = { running, node: is.primary_node }
    this.pictures.set(is.uuid, now)
    this.tell(is, MOVES[cause?.opcode ?? ''] ?? 'moved', { running, node: was.primary_node }, now, cause)
  }

  private ended(instance: Instance, cause: Cause, runs: 'yes' | 'no' | 'as wanted' | undefined): void {
    // It does not run, whatever happened to its record.
    if (instance.forthcoming) return
    const touched = this.touchedBy(instance.uuid)
    touched.ended_ms = this.parts.clock.monotonic_ms()
    if (allOpcodes.get(cause.opcode)?.leavesRunning === undefined) return
    touched.cause = cause
    const { nodes } = this.parts.config()
    // A job does nothing on an offline node.
    if (runs !== undefined && nodes[instance.primary_node]?.offline === false)
      this.settled(instance, runs === 'as wanted' ? instance.admin_state === 'up' : runs === 'yes', cause)
    this.parts.look(instance.primary_node)
  }

  /** A job has reached its goal. */
  private settled(instance: Instance, running: boolean, cause: Cause): void {
    const { known } = this.parts
    const runtime = known.runningOn(instance.primary_node)?.[instance.name] ?? this.newRuntime(instance.beparams)
    known.correct(instance.primary_node, instance.name, running ? runtime : undefined)
    this.touchedBy(instance.uuid).cause = null
    this.turned(instance, running, instance.primary_node, running ? 'started' : 'stopped', cause)
  }

  /**
   * An instance that has moved still runs. Its new node may have been asked after the configuration named it and before the instance ran
   * there. Without this, that outdated answer would stay.
   */
  private arrived({ uuid, name, primary_node, beparams }: Instance): void {
    const { known } = this.parts
    const picture = this.pictures.get(uuid)
    const reported = known.runningOn(primary_node)
    if (picture?.running !== true || picture.node !== primary_node || reported?.[name] !== undefined) return
    known.correct(primary_node, name, this.newRuntime(beparams))
  }

  private newRuntime(beparams: Instance['beparams']): InstanceRuntime {
    const { maxmem, vcpus } = fillBeParams(this.parts.config().cluster, beparams)
    return { memory: maxmem, vcpus, state: 0, time: 0 }
  }

  private nodeTold(node: NodeUuid, asked_ms: number): void {
    const reported = this.parts.known.runningOn(node)
    if (reported === undefined) return
    for (const instance of ConfigIndex.of(this.parts.config()).primaryInstances(node)) {
      const touched = this.touched.get(instance.uuid)
      if (instance.forthcoming || (touched !== undefined && (touched.busy > 0 || asked_ms < touched.ended_ms))) continue
      this.touched.delete(instance.uuid)
      const runtime = reported[instance.name]
      const isHere = runtime !== undefined && !isGuestElsewhere(runtime)
      const running = isHere && runtime.state !== USER_DOWN
      const desired = instance.admin_state === 'up' && !isHere && !touched?.cause
      const change = running ? 'started' : desired ? 'crashed' : 'stopped'
      this.turned(instance, running, node, change, touched?.cause ?? null)
    }
  }

  /** Reports a change only if the instance was seen before. */
  private turned(instance: Instance, running: boolean, node: NodeUuid, change: string, cause: Cause | null): void {
    const before = this.pictures.get(instance.uuid)
    const now = { running, node }
    this.pictures.set(instance.uuid, now)
    if (before !== undefined && before.running !== running) this.tell(instance, change, before, now, cause)
  }

  private tell(
    { name, uuid }: Instance,
    change: string,
    before: Picture | null,
    now: Picture | null,
    cause: Cause | null,
    config = this.parts.config(),
  ): void {
    const displayed = (picture: Picture | null) =>
      picture && { running: picture.running, node: config.nodes[picture.node]?.name ?? picture.node }
    const data = { instance: name, uuid, change, before: displayed(before), now: displayed(now), cause }
    this.parts.add({ type: 'instance', objects: [`instance/${name}`], data })
  }

  private touchedBy(uuid: string): Touched {
    let touched = this.touched.get(uuid)
    if (touched === undefined) this.touched.set(uuid, (touched = { busy: 0, ended_ms: 0, cause: null }))
    return touched
  }

  private instancesOf(op: WireOpCode): Instance[] {
    const config = this.parts.config()
    const names = objectsOf(op).flatMap((object) => /^instance\/(.*)$/s.exec(object)?.[1] ?? [])
    return [...new Set(names.flatMap((name) => findInstance(config, name) ?? []))]
  }

  /** Finds the job that works on the instance, among the jobs that asked for a change of the configuration. */
  private workerOn(name: string, { askers = [] }: Delta): Worker | undefined {
    for (const asker of askers) {
      const job = typeof asker === 'number' ? this.parts.queue.job(asker) : undefined
      for (const [index, op] of job?.ops.entries() ?? [])
        if (job !== undefined && objectsOf(op.input).includes(`instance/${name}`))
          return { key: keyOf(job, index), op, cause: causeIn(job, op.input) }
    }
    return undefined
  }
}

const keyOf = (job: Job, index: number): string => `${job.id} ${index}`

const causeIn = (job: Job, { OP_ID }: WireOpCode): Cause => ({ job: job.id, opcode: OP_ID, ...submitter(job) })

/** Undefined if success does not determine the state. */
function runsAfter({ OP_ID, dry_run }: WireOpCode): Exclude<Running, 'perhaps'> | undefined {
  const leavesRunning = allOpcodes.get(OP_ID)?.leavesRunning
  return dry_run === true || leavesRunning === 'perhaps' ? undefined : leavesRunning
}
