// Limits the files that stay on a node after an instance is removed, for scripts and people. A node learns that an
// instance is gone from a list without it; it may have missed the removal, for example after a migration away.
import * as path from 'node:path'
import { isMissing } from '../lib/disk'
import type { Files } from '../lib/files'
import { numbered } from '../lib/file/quarantine'
import { PATH } from '../model/constants/paths'
import { LEFTOVERS_S } from '../model/limits/node'
import { ARCHIVE_DIRECTORIES_MAX } from '../model/limits/queue'
import type { NodeContext } from './context'
import type { Ssconf } from './ssconf'

type SweepContext = Pick<NodeContext, 'paths' | 'files' | 'ssconf' | 'clock' | 'log'>

interface Kept {
  readonly folder: string
  /** The name of the instance to which a file belongs. */
  owner(file: string): Promise<string> | string
}

/** Files for each instance; those of unknown instances are removed. */
const keptOf = ({ paths, files }: Pick<NodeContext, 'paths' | 'files'>): readonly Kept[] => [
  { folder: paths.bdevCacheDir, owner: (file) => firstWord(files, file) },
  { folder: paths.instanceReasonDir, owner: (file) => path.basename(file) },
  { folder: paths.metadataDir, owner: (file) => path.basename(file) },
  { folder: paths.local(PATH.LOG_KVM_DIR), owner: (file) => path.basename(file, '.log').replace(/\.migration$/, '') },
]

async function firstWord(files: Files, file: string): Promise<string> {
  try {
    return (await files.readFile(file, 'utf8')).split(' ')[0] ?? ''
  } catch (error) {
    if (isMissing(error)) return ''
    throw error
  }
}

const swept_ms = new WeakMap<Ssconf, number>()

/** At most once an hour, and only older files: an instance in the making is not in every list yet. */
export async function sweepLeftovers(context: SweepContext): Promise<void> {
  const { files, ssconf, clock } = context
  const last_ms = swept_ms.get(ssconf)
  if (last_ms !== undefined && clock.monotonic_ms() - last_ms < LEFTOVERS_S * 1000) return
  // A node that has never heard of its cluster knows nothing about its instances.
  if (ssconf.value('cluster_name') === undefined) return
  swept_ms.set(ssconf, clock.monotonic_ms())
  const now_ms = clock.now_ms()
  await pruneArchive(context)
  const known = new Set(ssconf.lines('instance_list'))
  for (const { folder, owner } of keptOf(context)) {
    for (const file of await filesIn(files, folder)) {
      if (now_ms - (await modified_ms(files, file)) < LEFTOVERS_S * 1000 || known.has(await owner(file))) continue
      await files.rm(file, { force: true })
      context.log.info({ file }, 'a file of an instance that is no more was removed')
    }
  }
}

/**
 * The archive of jobs. As Ganeti's cleaner does, removes the oldest ones, in whole directories with a fixed number of
 * jobs.
 */
export async function pruneArchive({
  paths,
  files,
  log,
}: Pick<SweepContext, 'paths' | 'files' | 'log'>): Promise<void> {
  const there = await files.readdir(paths.archiveDir).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  for (const number of numbered(there).slice(0, -ARCHIVE_DIRECTORIES_MAX)) {
    await files.rm(path.join(paths.archiveDir, String(number)), { recursive: true, force: true })
    log.info({ directory: number }, 'the oldest archived jobs were removed')
  }
}

/** Keeps the newest logs and removes the oldest. */
export async function keepNewest(files: Files, folder: string, count: number): Promise<void> {
  const there = await filesIn(files, folder)
  if (there.length <= count) return
  const dated = await Promise.all(there.map(async (file) => ({ file, at_ms: await modified_ms(files, file) })))
  dated.sort((a, b) => a.at_ms - b.at_ms)
  for (const { file } of dated.slice(0, there.length - count)) await files.rm(file, { force: true })
}

async function filesIn({ readdir }: Files, folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.filter((entry) => entry.isFile()).map((entry) => path.join(folder, entry.name))
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

/** A file that has disappeared meanwhile counts as young, because there is nothing to remove. */
async function modified_ms(files: Files, file: string): Promise<number> {
  try {
    return (await files.stat(file)).mtimeMs
  } catch (error) {
    if (isMissing(error)) return Infinity
    throw error
  }
}
