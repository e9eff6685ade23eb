// The code of a job process, which runs one job at a time. It listens on the job's live-lock socket before the job may
// start, runs the job, reports its progress, and closes the socket when the job has ended. It survives luxid; without a
// job it ends with luxid.
import { errorText } from '../lib/system-failure'
import { type Clock, hearAll } from '../lib/clock'
import type { Disk } from '../lib/disk'
import { type FramedConnection, type FramedServer, serveFramed } from '../lib/net/json-socket'
import type { Log } from '../lib/log'
import type { Paths } from '../lib/paths'
import { JOB_PROGRESS_BYTES_MAX } from '../model/limits/job-processes'
import type { JobId, WireOpCode } from '../rpc/luxi/calls'
import type { ClientId } from '../rpc/wconfd/calls'
import { JobRun, type OpcodeSetting } from './job-run'
import type { Job } from './job'
import { JobReport, Link } from './job-report'
import { type FromProcess, type ToJob, type ToProcess, readMessage } from './messages'
import type { JobOrder, Progress } from './runner'
import { jobFile } from './store'

/** What the entry point adds to an opcode's setting, to make the environment for operations. */
interface JobSetting extends OpcodeSetting {
  readonly jobId: JobId
  readonly client: ClientId
}

export interface JobProcessOptions {
  paths: Paths
  clock: Clock
  disk: Disk
  log: Log
  Cancelled: new () => Error
  execute(op: WireOpCode, setting: JobSetting): Promise<unknown>
  /** Called after each job, to release what the job's clients still hold. */
  jobEnded?(): Promise<void> | void
}

/** The fork's channel to luxid. */
export interface Channel {
  /** The process's own. */
  readonly pid: number
  send(message: FromProcess | Progress): void
  onMessage(listener: (message: ToProcess | ToJob) => void): void
  onDisconnect(listener: () => void): void
  exit(code: number): void
}

interface Slot {
  server: FramedServer
  report: JobReport
  /** The connection to the luxid that gave the job to this process. */
  parent: Link
  run: JobRun | undefined
  /** After an unforeseen error this process takes no other job. */
  defect: boolean
}

export function serveJobs(channel: Channel, options: JobProcessOptions): void {
  let slot: Slot | undefined
  let alone = false

  channel.onMessage((message) => {
    if (message.do !== 'begin') return obey(slot, slot?.parent, message)
    begin(message.order).catch((error: unknown) => {
      options.log.error({ err: error }, 'the job process cannot go on')
      channel.exit(1)
    })
  })
  channel.onDisconnect(() => {
    alone = true
    slot?.parent.lost()
    if (slot?.run === undefined) channel.exit(0)
  })
  channel.send({ say: 'ready' })

  async function begin(order: JobOrder): Promise<void> {
    const { id, livelock = '' } = order.job
    const opened = await open(order.job).catch((error: unknown) => errorText(error))
    if (typeof opened === 'string') return channel.send({ say: 'failed', text: opened })
    slot = opened
    // If luxid has gone already, its successor may have missed this live-lock and starts the job again. Then this
    // process must end here.
    await hearAll()
    if (alone) return opened.server.close()
    channel.send({ say: 'begun' })
    await startRun(opened, order, options, [id, livelock, channel.pid]).run()
    await opened.report.close()
    await options.jobEnded?.()
    await opened.server.close()
    slot = undefined
    if (alone || opened.defect) channel.exit(0)
    else channel.send({ say: 'idle' })
  }

  async function open({ id, livelock = '' }: Job): Promise<Slot> {
    const server = await serveLivelock(livelock, (link, message) => obey(slot, link, message))
    const { paths, disk, clock } = options
    const report = new JobReport({ file: jobFile(paths, id), disk, clock })
    const parent = new Link((message) => channel.send(message))
    return { server, report, parent, run: undefined, defect: false }
  }
}

function serveLivelock(path: string, hear: (link: Link, message: ToJob) => void): Promise<FramedServer> {
  const links = new WeakMap<FramedConnection, Link>()
  return serveFramed({
    path,
    mode: 0o600,
    maxFrame: JOB_PROGRESS_BYTES_MAX,
    onOpen(connection) {
      const link = new Link((message) => void connection.send(JSON.stringify(message)))
      links.set(connection, link)
      void connection.closed.then(() => link.lost())
    },
    onMessage(text, connection) {
      const link = links.get(connection)
      const message = readMessage<ToJob>(text, 'do')
      if (link && message) hear(link, message)
    },
  })
}

function startRun(slot: Slot, order: JobOrder, options: JobProcessOptions, client: ClientId): JobRun {
  const { clock, log } = options
  const { report, parent } = slot
  slot.run = new JobRun(order, {
    clock,
    Cancelled: options.Cancelled,
    execute: (op, setting) => options.execute(op, { ...setting, jobId: order.job.id, client }),
    save: (job, progress) => report.save(job, progress),
    log: (job, progress) => report.log(job, progress),
    onBug: (error) => {
      slot.defect = true
      log.error({ err: error, job: order.job.id }, 'unexpected error in a job')
    },
  })
  report.begin(order.job, parent)
  return slot.run
}

function obey(slot: Slot | undefined, link: Link | undefined, message: ToJob): void {
  if (message.do === 'follow' && link) slot?.report.follow(link)
  else if (message.do === 'written') link?.written(message.error)
  else if (message.do === 'cancel') slot?.run?.cancel()
  else if (message.do === 'priority') slot?.run?.setPriority(message.priority)
}

/** The channel of a forked process. */
export function processChannel(): Channel {
  return {
    pid: process.pid,
    send: (message) => {
      // luxid may go at any moment: an undelivered message does not matter.
      if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
    },
    onMessage: (listener) => void process.on('message', (message: ToProcess | ToJob) => listener(message)),
    onDisconnect: (listener) => void process.on('disconnect', listener),
    exit: (code) => process.exit(code),
  }
}
