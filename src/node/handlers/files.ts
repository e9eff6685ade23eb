// Node calls that write files: uploads, ssconf, the job queue's replica, the watcher's pause.
import * as path from 'node:path'
import { keepOther, keepUnreadable } from '../queue-copy'
import { fail } from '../failure'
import type { Handlers, NodeContext } from '../context'
import { readDistributed, writeDistributed } from '../distributed-files'
import { sweepLeftovers } from '../leftovers'
import { receiveFile, receiveQueueFile, receiveSsconf, checkQueueFile } from '../uploads'

export const fileHandlers = {
  async upload_file(context, file) {
    await receiveFile(context, file)
    return null
  },

  async upload_file_single(context, file, content, mode, owner, group, atime, mtime) {
    await receiveFile(context, { path: file, content, mode, owner, group, atime, mtime })
    return null
  },

  gantry_distributed_read: (context, file) => readDistributed(context, file),

  async gantry_distributed_write(context, file, copy) {
    await writeDistributed(context, file, copy)
    return null
  },

  async write_ssconf_files(context, values) {
    await giveWay(context, values['master_node'])
    await receiveSsconf(context, values)
    if (PLACE_LISTS.some((list) => values[list] !== undefined)) settle(context)
    if (values['instance_list'] !== undefined) await sweepLeftovers(context)
    return null
  },

  jobqueue_update: (context, file, content) =>
    inTurn(context, async () => {
      await receiveQueueFile(context, file, content)
      return null
    }),

  async gantry_jobqueue_append(context, files) {
    for (const [file] of files) checkQueueFile(context, file)
    await context.queueJournal.append(files, () => refuseLate(context))
    return null
  },

  async gantry_jobqueue_fold({ queueJournal }) {
    await queueJournal.fold()
    return null
  },

  gantry_jobqueue_write: (context, files) =>
    inTurn(context, async () => {
      for (const [file] of files) checkQueueFile(context, file)
      await Promise.all(
        files.map(async ([file, content]) => {
          await keepOther(context, file, content)
          await receiveQueueFile(context, file, content)
        }),
      )
      return null
    }),

  gantry_jobqueue_keep: (context, files) =>
    inTurn(context, async () => {
      const { disk, paths } = context
      const kept = new Set(files)
      const names = (await disk.list(paths.queueDir)).filter((name) => name.startsWith('job-'))
      const gone = names.map((name) => path.join(paths.queueDir, name)).filter((file) => !kept.has(file))
      await Promise.all(
        gone.map(async (file) => {
          await keepUnreadable(context, file)
          await disk.remove(file, { durable: true })
        }),
      )
      return null
    }),

  jobqueue_rename: (context, pairs) =>
    inTurn(context, async () => {
      for (const [from, to] of pairs) {
        checkQueueFile(context, from)
        await context.disk.makeDirectory(path.dirname(checkQueueFile(context, to)))
        await context.disk.rename(from, to)
      }
      return pairs.map(() => null)
    }),

  /** Removes all jobs; the queue itself, its lock and version stay. */
  jobqueue_purge: ({ disk, files, paths, queueJournal }) =>
    queueJournal.alone(async () => {
      const { queueDir, archiveDir } = paths
      await files.rm(archiveDir, { recursive: true, force: true })
      const jobs = (await disk.list(queueDir)).filter((name) => /^(job-|journal)/.test(name))
      await Promise.all(jobs.map((name) => disk.remove(path.join(queueDir, name))))
      return null
    }),

  jobqueue_set_drain_flag: (context, drained) =>
    inTurn(context, async () => {
      const flag = path.join(context.paths.queueDir, 'drain')
      if (drained) await receiveQueueFile(context, flag, '')
      else await context.disk.remove(flag, { durable: true })
      return null
    }),

  async set_watcher_pause(context, until) {
    if (until === null) await context.disk.remove(context.paths.watcherPause)
    else await context.disk.write(context.paths.watcherPause, `${Math.floor(until)}\n`)
    return null
  },

  async get_watcher_pause(context) {
    const text = (await context.disk.read(context.paths.watcherPause))?.toString('utf8')
    const until = Number(text)
    return text === undefined || Number.isNaN(until) ? null : until
  },
} satisfies Partial<Handlers>

/** Runs `work` while nothing else uses the queue's files. Refuses it if the caller is no longer allowed when its turn comes. */
const inTurn = <T>(context: NodeContext, work: () => Promise<T>): Promise<T> =>
  context.queueJournal.alone(() => {
    refuseLate(context)
    return work()
  })

/**
 * A job from a dead master's luxid must not appear beside its successor's jobs, nor overwrite what the next luxid has
 * sent.
 */
function refuseLate({ caller, late, log }: NodeContext): void {
  const why = late?.() ?? (caller?.aborted === true ? 'the caller has left' : undefined)
  if (why === undefined) return
  log.warn({ why }, 'a change of the job queue came too late, and was not made')
  fail(why)
}

/** A former master learns here that another node has taken over. A master that still has the votes stays master. */
async function giveWay({ hostname, ssconf, daemons, log }: NodeContext, named: unknown): Promise<void> {
  const master = (Array.isArray(named) ? named.map(String) : String(named ?? '').split('\n'))[0]
  if (!master || master === hostname || ssconf.value('master_node') !== hostname) return
  log.warn({ master }, 'another node is said to be the master')
  if (!(await daemons.yieldMaster()))
    fail(`${hostname} is the master: the majority of the nodes says so, not ${master}`)
}

/** These lists decide which daemons a node has. */
const PLACE_LISTS = ['master_candidates', 'hypervisor_list', 'enabled_user_shutdown']

/** Does not make the caller wait: the files are written, and daemons may take minutes to start. */
function settle({ daemons, log }: NodeContext): void {
  daemons
    .settle()
    .catch((error: unknown) =>
      log.error({ err: error }, 'the daemons that this node should run cannot be started or stopped'),
    )
}
