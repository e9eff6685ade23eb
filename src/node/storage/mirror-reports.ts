// What this node reports about its mirrored disks. They are disks of DRBD, or disks in user space if the node uses these instead.
import { USER_SPACE_VERSION } from '../../model/constants/disks'
import type { NodeContext } from '../context'
import { mirrorList } from '../mirror/client'
import { requireKernel, usermodeHelper } from './drbd/kernel'

export interface MirrorReports {
  version(): Promise<string>
  /** The configured minors. */
  minors(): Promise<number[]>
  /** The program that DRBD calls when it loses data. Ganeti wants the same one on all nodes. */
  helper(): Promise<string>
}

/** In user space no program is called, so this reports the one that does nothing. */
export const USER_SPACE_HELPER = '/bin/true'

export function mirrorReportsOf(context: NodeContext): MirrorReports {
  if (context.userVolumes === undefined)
    return {
      version: async () => (await requireKernel(context)).version,
      minors: async () => [...(await requireKernel(context)).minors.keys()],
      helper: async () => {
        const helper = await usermodeHelper(context)
        // Other versions of DRBD also have this file.
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
