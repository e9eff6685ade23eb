// Lists of places that only this node's administrator writes. A master cannot change them, so it cannot make a node write elsewhere.
import * as path from 'node:path'
import { isMissing } from '../lib/disk'
import type { Files } from '../lib/files'
import { isBelow } from '../model/file-storage'
import type { NodeContext } from './context'

export type Places = Pick<NodeContext, 'paths' | 'files'>

/** The absolute paths in a list, one a line; none if there is no list. */
export async function placesIn({ paths, files }: Places, list: string): Promise<string[]> {
  try {
    const text = await files.readFile(paths.local(list), 'utf8')
    const lines = text.split('\n').map((line) => line.trim())
    return lines
      .filter((line) => line.startsWith('/'))
      .map((line) => path.posix.normalize(line).replace(/(.)\/$/, '$1'))
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

/** Where a link leads it, if that is outside the allowed places; undefined if it stays inside. A place itself may be a link. */
export async function ledOutside(
  { paths, files }: Places,
  local: string,
  allowed: readonly string[],
): Promise<string | undefined> {
  const real = await realPlace(files, local)
  const places = await Promise.all(allowed.map((place) => realPlace(files, paths.local(place))))
  return places.some((place) => isBelow(real, place)) ? undefined : paths.virtual(real)
}

/** Without links, as far as it exists. */
export async function realPlace(files: Files, file: string): Promise<string> {
  try {
    return await files.realpath(file)
  } catch (error) {
    if (!isMissing(error)) throw error
    return path.join(await realPlace(files, path.dirname(file)), path.basename(file))
  }
}
