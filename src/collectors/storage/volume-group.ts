// The state of a volume group of LVM, or of one in user space.
import * as path from 'node:path'
import { PATH } from '../../model/constants/paths'
import { type NodeSources, NotInstalled, readIfThere } from '../report'
import { type FoundStorage, fullness, unmeasured } from './found-storage'

const COMMAND = [
  ...['vgs', '--noheadings', '--units', 'b', '--nosuffix', '--separator', ';'],
  ...['-o', 'vg_name,vg_size,vg_free,vg_missing_pv_count,pv_count'],
]

export async function volumeGroupStorage(sources: NodeSources, name: string): Promise<FoundStorage> {
  const ours = await inUserSpace(sources, name)
  if (ours !== undefined) return ours
  const row = (await rows(sources)).find(([group]) => group === name)
  if (row === undefined) {
    return unmeasured({ code: 4, message: 'there is no such volume group on this node' })
  }
  const [size_bytes = 0, free_bytes = 0, missing = 0, physical_volumes = 0] = row.slice(1).map(Number)
  const message = `${missing} of its ${physical_volumes} physical volumes ${missing === 1 ? 'is' : 'are'} missing`
  const status = missing > 0 ? ({ code: 4, message } as const) : fullness(free_bytes)
  return { size_bytes, free_bytes, status, details: { physical_volumes, missing_physical_volumes: missing } }
}

const MIB = 1 << 20

/** A node without LVM may have such a group; `src/node/storage/user/volumes.ts` describes its files. */
async function inUserSpace(sources: NodeSources, name: string): Promise<FoundStorage | undefined> {
  const folder = path.join(sources.paths.local(PATH.USER_VOLUMES_DIR), name)
  const size_mib = await readIfThere(sources, path.join(folder, 'size'))
  if (size_mib === undefined) return undefined
  const volumes = path.join(folder, 'volumes')
  const files = await Promise.all((await sources.list(volumes)).map((file) => sources.stat(path.join(volumes, file))))
  const given_bytes = files.reduce((sum, file) => sum + (file?.size ?? 0), 0)
  const size_bytes = Number(size_mib) * MIB
  const room = await sources.room(folder)
  // Volumes grow as they are written, so never more is free than the file system has.
  const free_bytes = Math.max(0, Math.min(size_bytes - given_bytes, room.free_bytes))
  return { size_bytes, free_bytes, status: fullness(free_bytes), details: { in_user_space: true } }
}

async function rows(sources: NodeSources): Promise<string[][]> {
  try {
    const lines = (await sources.run(COMMAND)).split('\n').filter((line) => line.trim() !== '')
    return lines.map((line) => line.trim().split(';'))
  } catch (error) {
    if (error instanceof NotInstalled) return []
    throw error
  }
}
