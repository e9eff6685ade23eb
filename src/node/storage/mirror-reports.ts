// What this node says of its mirrored disks: those of DRBD, or those in user space where it has these instead.
import type { NodeContext } from '../context'
import { mirrorList } from '../mirror/client'
import { requireKernel, usermodeHelper } from './drbd/kernel'

export interface MirrorReports {
  version(): Promise<string>
  /** Those that are configured. */
  minors(): Promise<number[]>
  /** The program that is called when data is lost; Ganeti wants the same one on all nodes. */
  helper(): Promise<string>
}

/** Nothing is called in user space, so it is the one that does nothing. */
export const USER_SPACE_HELPER = '/bin/true'
const USER_SPACE_VERSION = 'user space (no DRBD)'

export function mirrorReportsOf(context: NodeContext): MirrorReports {
  if (context.userVolumes === undefined)
    return {
      version: async () => (await requireKernel(context)).version,
      minors: async () => [...(await requireKernel(context)).minors.keys()],
      helper: async () => {
        const helper = await usermodeHelper(context)
        // Another version has such a file, too.
        await requireKernel(context)
        return helper
      },
    }
  return {
    version: () => Promise.resolve(USER_SPACE_VERSION),
    minors: async () => [...(await mirrorList(context)).keys()],
    helper: () => Promise.resolve(USER_SPACE_HELPER),
  }
}
