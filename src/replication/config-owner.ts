// Who owns config.data, gantry.data and their journal on this node: wconfd on the master, noded where it keeps a candidate's copy, or a command that
// works on them. The owner has a lock, which the kernel releases with it, before it reads anything.
import type { Clock } from '../lib/clock'
import type { HeldLock, LockFile } from '../lib/file/lock'
import { isServed } from '../lib/net/json-socket'
import type { Paths } from '../lib/paths'
import { errorText } from '../lib/system-failure'
import { ConfigurationError } from '../model/errors'
import { CONFIG_HANDOVERS_MAX, CONFIG_HANDOVER_S } from '../model/limits/replication'
import { yieldFollow } from '../rpc/wconfd/follow-server'

export interface OwnerOptions {
  readonly paths: Pick<Paths, 'configFile' | 'configLock' | 'socket'>
  /** Absent where several nodes of a test share a process, and no other process can be the owner. */
  readonly lockFile?: LockFile
}

/** Undefined if another process is the owner. */
export async function ownConfig({ paths, lockFile }: OwnerOptions, wait_s = 0): Promise<HeldLock | undefined> {
  if (lockFile !== undefined) return lockFile(paths.configLock, 'exclusive', wait_s)
  return (await isServed(paths.socket('follow'))) ? undefined : { release: () => undefined }
}

/** For work on the files from outside of a store. Refuses while another process owns them. */
export async function asConfigOwner<T>(options: OwnerOptions, work: () => Promise<T>): Promise<T> {
  const lock = await ownConfig(options)
  if (lock === undefined) throw new ConfigurationError(owned(options.paths))
  try {
    return await work()
  } finally {
    lock.release()
  }
}

/** Asks noded to give up its copy. It may take it again until this process has the lock, so it is asked again. */
export async function takeOverConfig(options: OwnerOptions & { readonly clock: Clock }): Promise<HeldLock> {
  const { paths, clock } = options
  for (let requested = 0; requested < CONFIG_HANDOVERS_MAX; requested++) {
    try {
      await yieldFollow(paths.socket('follow'), clock)
    } catch (error) {
      throw new Error(`the owner of ${paths.configFile} does not give it up: ${errorText(error)}`, { cause: error })
    }
    const lock = await ownConfig(options, CONFIG_HANDOVER_S)
    if (lock !== undefined) return lock
  }
  throw new Error(owned(paths))
}

const owned = ({ configFile, configLock }: Pick<Paths, 'configFile' | 'configLock'>): string =>
  `another process owns ${configFile}: it has locked ${configLock}, or this process cannot open that file. Stop a second wconfd, or wait until gantryd fold or gnt-cluster master-failover has ended`
