// What runs in a job process. It owns one job at a time: listens on the job's live-lock socket before the job may start, runs it,
// writes its file, and closes the socket when the job has ended. It outlives luxid; without a job it ends with luxid.
import type { Clock } from '../lib/clock'
import type { Disk } from '../lib/disk'
import { type FramedConnection, type FramedServer, serveFramed } from '../lib/json-socket'
import type { Log } from '../lib/log'
import type { Paths } from '../lib/paths'
import { JOB_PROGRESS_BYTES_MAX } from '../model/limits'
import type { JobId, WireOpCode } from '../rpc/luxi/calls'
import type { NodeClient } from '../rpc/node/client'
import type { ClientId } from '../rpc/wconfd/calls'
import { JobRun, type OpcodeSetting } from './job-run'
import { JobWriter } from './job-writer'
import { type FromJob, type FromProcess, type ToJob, type ToProcess, readMessage } from './messages'
import type { JobOrder } from './runner'
import { replicasFile } from './replicas'
import { jobFile } from './store'

/** What the entry point adds to an opcode's setting to make the environment that operations want. */
export interface JobSetting extends OpcodeSetting {
  readonly jobId: JobId
  readonly client: ClientId
}

export interface JobProcessOptions {
  paths: Paths
  clock: Clock
  disk: Disk
  log: Log
  nodes: NodeClient
  Cancelled: new () => Error
  execute(op: WireOpCode, setting: JobSetting): Promise<unknown>
  /** After each job: what the clients of the job still hold open. */
  jobEnded?(): Promise<void> | void
}

/** The fork's channel to luxid. */
export interface Channel {
  send(message: FromProcess): void
  onMessage(listener: (message: ToProcess) => void): void
  onDisconnect(listener: () => void): void
  exit(code: number): void
}

interface Slot {
  id: JobId
  livelock: string
  server: FramedServer
  run: JobRun | undefined
  writer: JobWriter | undefined
  /** Something went wrong that nobody foresaw: this process takes no other job. */
  defect: boolean
}

export function serveJobs(channel: Channel, options: JobProcessOptions): void {
  let slot: Slot | undefined
  let alone = false

  channel.onMessage((message) => {
    void handle(message).catch((error: unknown) => {
      options.log.error({ err: error }, 'the job process cannot go on')
      channel.exit(1)
    })
  })
  channel.onDisconnect(() => {
    alone = true
    if (slot?.run === undefined) channel.exit(0)
  })
  channel.send({ say: 'ready' })

  async function handle(message: ToProcess): Promise<void> {
    if (message.do === 'prepare') return prepare(message.id, message.livelock)
    if (message.do === 'begin') return begin(message.order)
    await slot?.server.close()
    slot = undefined
    channel.send({ say: 'idle' })
  }

  async function prepare(id: JobId, livelock: string): Promise<void> {
    try {
      const server = await serveFramed({
        path: livelock,
        mode: 0o600,
        maxFrame: JOB_PROGRESS_BYTES_MAX,
        onOpen: (connection) => {
          if (slot?.run) tell(connection, { kind: 'job', job: slot.run.job })
        },
        onMessage: (text) => obey(slot, readMessage<ToJob>(text, 'do')),
      })
      slot = { id, livelock, server, run: undefined, writer: undefined, defect: false }
      channel.send({ say: 'prepared', id })
    } catch (error) {
      channel.send({ say: 'failed', text: error instanceof Error ? error.message : String(error) })
    }
  }

  async function begin(order: JobOrder): Promise<void> {
    if (slot?.id !== order.job.id) throw new Error(`told to begin job ${order.job.id} without having prepared it`)
    const current = slot
    const client: ClientId = [order.job.id, slot.livelock, process.pid]
    startRun(current, order, options, client)
    await current.run?.run()
    await current.writer?.close()
    await options.jobEnded?.()
    await hangUp(current.server, options.clock)
    slot = undefined
    if (alone || current.defect) channel.exit(0)
    else channel.send({ say: 'idle' })
  }
}

function startRun(slot: Slot, order: JobOrder, options: JobProcessOptions, client: ClientId): void {
  const { paths, clock, disk, nodes, log } = options
  const { server } = slot
  const tellAll = (message: FromJob) => {
    for (const connection of server.connections) tell(connection, message)
  }
  const writer = new JobWriter({
    file: jobFile(paths, order.job.id),
    replicasFile: replicasFile(paths),
    disk,
    clock,
    nodes,
    replicas: order.replicas,
    onLagging: (node, reason) => tellAll({ kind: 'lagging', node, reason }),
  })
  slot.writer = writer
  slot.run = new JobRun(order, {
    clock,
    Cancelled: options.Cancelled,
    execute: (op, setting) => options.execute(op, { ...setting, jobId: order.job.id, client }),
    save: (job) => writer.save(job),
    saveSoon: (job) => writer.saveSoon(job),
    tell: tellAll,
    onBug: (error) => {
      slot.defect = true
      log.error({ err: error, job: order.job.id }, 'unexpected error in a job')
    },
  })
  tellAll({ kind: 'job', job: order.job })
}

function obey(slot: Slot | undefined, message: ToJob | undefined): void {
  if (message?.do === 'cancel') slot?.run?.cancel()
  else if (message?.do === 'priority') slot?.run?.setPriority(message.priority)
  else if (message?.do === 'replicas') slot?.writer?.setReplicas(message.replicas)
}

const tell = (connection: FramedConnection, message: FromJob): void => void connection.send(JSON.stringify(message))

/** Listeners get what was sent to them before the live-lock goes; one that does not read is not waited for. */
async function hangUp(server: FramedServer, clock: Clock): Promise<void> {
  const open = [...server.connections]
  for (const connection of open) {
    tell(connection, { kind: 'bye' })
    connection.end()
  }
  const patience = new AbortController()
  const wait = clock.sleep(1000, patience.signal).catch(() => undefined)
  await Promise.race([Promise.all(open.map((connection) => connection.closed)), wait])
  patience.abort()
  await server.close()
}

/** The channel of a forked process. */
export function processChannel(): Channel {
  return {
    send: (message) => {
      // luxid may be gone at any moment: what cannot be sent is not missed.
      if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
    },
    onMessage: (listener) => void process.on('message', (message: ToProcess) => listener(message)),
    onDisconnect: (listener) => void process.on('disconnect', listener),
    exit: (code) => process.exit(code),
  }
}
