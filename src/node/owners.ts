// Checks that this node's files have the owners and modes of the table in model/owners.ts, with one stat for each.
import * as path from 'node:path'
import { ownerText } from '../lib/file/accounts'
import { isMissing } from '../lib/disk'
import { PATH } from '../model/constants/paths'
import { MISPLACED_AGAIN_S, MISPLACED_TOLD_MAX } from '../model/limits/node'
import { belonging, isInPlace, NAMED_FILES, NAMED_IN, type Belonging } from '../model/owners'
import type { NodeContext } from './context'
import { isVirtualNode } from './network/addresses'

type Owned = Pick<NodeContext, 'paths' | 'files' | 'disk' | 'clock'>

/** A sentence for each file that differs: its owner and mode, the right ones, and the remedy. */
export async function misplacedFiles(context: Owned): Promise<string[]> {
  const first = await misplacedAmong(context, await namedFiles(context))
  if (first.length === 0) return []
  await context.clock.sleep(MISPLACED_AGAIN_S * 1000)
  const again = await misplacedAmong(
    context,
    first.map(({ file }) => file),
  )
  const reported = again.slice(0, MISPLACED_TOLD_MAX).map((one) => sentence(context, one))
  const more = again.length - reported.length
  return more > 0
    ? [...reported, `${more} more files have wrong owners or modes: run ${mending(context)} there`]
    : reported
}

async function namedFiles({ paths, disk }: Owned): Promise<string[]> {
  const inFolders = await Promise.all(
    NAMED_IN.map(async (virtual) => {
      const folder = paths.local(virtual)
      return (await disk.list(folder)).map((name) => path.join(folder, name))
    }),
  )
  return [...new Set([...NAMED_FILES.map((file) => paths.local(file)), ...inFolders.flat()])]
}

interface Misplaced {
  readonly file: string
  readonly uid: number
  readonly gid: number
  readonly mode: number
  readonly wanted: Belonging
}

async function misplacedAmong({ files }: Owned, all: readonly string[]): Promise<Misplaced[]> {
  const found: Misplaced[] = []
  for (const file of all) {
    const desired = belonging(file)
    if (desired === undefined) continue
    const stat = await files.lstat(file).catch((error: unknown) => {
      if (isMissing(error)) return undefined
      throw error
    })
    if (stat === undefined || isInPlace(stat, desired)) continue
    found.push({ file, uid: stat.uid, gid: stat.gid, mode: stat.mode & 0o7777, wanted: desired })
  }
  return found
}

function sentence(context: Owned, { file, uid, gid, mode, wanted: desired }: Misplaced): string {
  const [is, should] = [modeText(mode), modeText(desired.mode)]
  const { owner } = desired
  const { files } = context
  const difference =
    owner === undefined
      ? `has mode ${is}, and should have ${should}`
      : `is ${ownerText(files, { uid, gid })} with mode ${is}, and should be ${ownerText(files, owner)} with ${should}`
  return `${context.paths.virtual(file)} ${difference}: run ${mending(context)} there`
}

const modeText = (mode: number): string => `0${mode.toString(8)}`

function mending({ paths }: Owned): string {
  if (!isVirtualNode(paths)) return PATH.ENSURE_DIRS
  return `'GANETI_ROOTDIR=${paths.root} GANETI_HOSTNAME=${paths.hostname} gantryd ensure-dirs'`
}
