// The state of a volume group of LVM, or of one in user space.
import type { NodeSources, UserSpaceStorage } from '../report'
import { askLvm } from './ask-lvm'
import { type FoundStorage, fullness, unmeasured } from './found-storage'

const COMMAND = [
  ...['vgs', '--noheadings', '--units', 'b', '--nosuffix', '--separator', ';'],
  ...['-o', 'vg_name,vg_size,vg_free,vg_missing_pv_count,pv_count'],
]

export async function volumeGroupStorage(sources: NodeSources, name: string): Promise<FoundStorage> {
  const userSpace = await sources.userSpace?.()
  if (userSpace !== undefined) return inUserSpace(userSpace, name)
  const row = (await rows(sources)).find(([group]) => group === name)
  if (row === undefined) return MISSING
  const [size_bytes = 0, free_bytes = 0, missing = 0, physical_volumes = 0] = row.slice(1).map(Number)
  const message = `${missing} of its ${physical_volumes} physical volumes ${missing === 1 ? 'is' : 'are'} missing`
  const status = missing > 0 ? ({ code: 4, message } as const) : fullness(free_bytes)
  return { size_bytes, free_bytes, status, details: { physical_volumes, missing_physical_volumes: missing } }
}

const MIB = 1 << 20

async function inUserSpace({ groups }: UserSpaceStorage, name: string): Promise<FoundStorage> {
  const group = (await groups()).find((one) => one.name === name)
  if (group === undefined) return MISSING
  const [size_bytes, free_bytes] = [group.size_mib * MIB, group.free_mib * MIB]
  return { size_bytes, free_bytes, status: fullness(free_bytes), details: { in_user_space: true } }
}

const MISSING = unmeasured({ code: 4, message: 'there is no such volume group on this node' })

async function rows(sources: NodeSources): Promise<string[][]> {
  const lines = (await askLvm(sources, COMMAND)).split('\n').filter((line) => line.trim() !== '')
  return lines.map((line) => line.trim().split(';'))
}
