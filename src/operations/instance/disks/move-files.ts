// Gives files of disks other paths, together with the configuration.
import type { Disk } from '../../../model/config'
import { OpExecError } from '../../../model/errors'
import { isUnknownThere } from '../../../rpc/node/client'
import type { UnitContext } from '../../unit-context'
import { createDirectories } from './files'
import { diskDictOf, type InstanceView } from '../view'

export interface MovedFile {
  readonly from: Disk
  readonly to: Disk
}

/**
 * A file has both names while `record` changes the configuration, so each path that the configuration has at any moment
 * has its file, whoever dies meanwhile. Where the node or its file system has no second names, files are renamed first, and
 * renamed back if the configuration cannot be changed.
 */
export async function moveFiles(
  ctx: UnitContext,
  view: InstanceView,
  moved: readonly MovedFile[],
  what: string,
  record: () => Promise<unknown>,
): Promise<void> {
  const moves = moved.filter(({ from, to }) => fileOf(from) !== fileOf(to))
  if (moves.length === 0) return void (await record())
  const isLinked = await giveNames(ctx, view, moves, what)
  try {
    await record()
  } catch (error) {
    if (await ctx.config.isSettled()) await takeBack(ctx, view, moves, isLinked)
    else if (!isLinked) warnOfNewPlaces(ctx, moves)
    throw error
  }
  if (isLinked) await removeNames(ctx, view, moves, 'from')
}

const fileOf = (disk: Disk): string => String(disk.logical_id[1])

async function giveNames(
  ctx: UnitContext,
  view: InstanceView,
  moves: readonly MovedFile[],
  what: string,
): Promise<boolean> {
  const { primary } = view
  await createDirectories(
    ctx,
    view,
    moves.map(({ to }) => to),
  )
  const names = moves.map(({ from, to }): [string, string] => [fileOf(from), fileOf(to)])
  const linked = await ctx.nodes.attempt(primary, 'gantry_file_link', [names])
  if (linked.ok && linked.payload) return true
  if (!linked.ok && !isUnknownThere(linked)) throw new OpExecError(`${what}: ${linked.error}`)
  await ctx.nodes.call(primary, what, 'blockdev_rename', [
    moves.map(({ from, to }) => [diskDictOf(view, from), to.logical_id]),
  ])
  return false
}

async function removeNames(
  ctx: UnitContext,
  view: InstanceView,
  moves: readonly MovedFile[],
  which: keyof MovedFile,
): Promise<void> {
  for (const move of moves) {
    const removed = await ctx.nodes.attempt(view.primary, 'blockdev_remove', [diskDictOf(view, move[which])])
    if (removed.ok) continue
    ctx.log.warning(
      `The file of disk ${move.from.uuid} also has the name ${fileOf(move[which])}, which could not be removed: ${removed.error}`,
    )
  }
}

async function takeBack(
  ctx: UnitContext,
  view: InstanceView,
  moves: readonly MovedFile[],
  isLinked: boolean,
): Promise<void> {
  if (isLinked) return removeNames(ctx, view, moves, 'to')
  const back = await ctx.nodes.persist(view.primary, 'blockdev_rename', [
    moves.map(({ from, to }) => [diskDictOf(view, to), from.logical_id]),
  ])
  if (back.ok) return
  for (const { from, to } of moves)
    ctx.log.warning(`The data of disk ${from.uuid} is now in ${fileOf(to)}: ${back.error}`)
}

function warnOfNewPlaces(ctx: UnitContext, moves: readonly MovedFile[]): void {
  for (const { from, to } of moves)
    ctx.log.warning(
      `The data of disk ${from.uuid} is now in ${fileOf(to)}, and nobody knows whether the configuration says so`,
      `if it still says ${fileOf(from)}, give the file this name again`,
    )
}
