// The logical volumes of this node, as drivers need them. All come from one report, which is made again after a change.
import { fail } from '../../failure'
import type { StorageContext } from '../storage'
import { attempt, said } from '../tools'

export interface Volume {
  readonly size_bytes: number
  readonly attributes: string
  /** Only an active volume has numbers. */
  readonly numbers?: { readonly major: number; readonly minor: number }
  readonly extent_bytes: number
  /** The stripes of its last segment, because that is the one that grows. */
  readonly stripes: number
  /** The physical volumes, each once. */
  readonly devices: readonly string[]
  readonly tags: readonly string[]
}

const COLUMNS = [
  'vg_name',
  'lv_name',
  'lv_size',
  'lv_attr',
  'lv_kernel_major',
  'lv_kernel_minor',
  'vg_extent_size',
  'stripes',
  'devices',
  'lv_tags',
]
const REPORT = ['lvs', '--noheadings', '--separator=|', '--units=b', '--nosuffix', `-o${COLUMNS.join(',')}`]

export class Volumes {
  private report: Promise<ReadonlyMap<string, Volume>> | undefined

  constructor(private readonly context: StorageContext) {}

  async get(vg: string, name: string): Promise<Volume | undefined> {
    this.report ??= listVolumes(this.context)
    return (await this.report).get(`${vg}/${name}`)
  }

  /** Must be called after each change, also after one that failed. */
  forget(): void {
    this.report = undefined
  }
}

async function listVolumes(context: StorageContext): Promise<ReadonlyMap<string, Volume>> {
  const { code, stdout, output } = await attempt(context, REPORT)
  if (code !== 0) fail(`Cannot list logical volumes on node ${context.hostname}: ${said(output)}`)
  const volumes = new Map<string, Volume>()
  for (const line of stdout.split('\n').filter((one) => one.trim() !== '')) {
    const cells = line.split('|').map((cell) => cell.trim())
    if (cells.length !== COLUMNS.length) fail(`lvs printed a line that cannot be read: ${line.trim()}`)
    const [vg = '', name = ''] = cells
    const segment = volumeOf(cells)
    // LVM prints one line for each segment of a volume.
    const others = volumes.get(`${vg}/${name}`)?.devices ?? []
    volumes.set(`${vg}/${name}`, { ...segment, devices: [...new Set([...others, ...segment.devices])] })
  }
  return volumes
}

function volumeOf(cells: readonly string[]): Volume {
  const [, , size, attributes = '', majorText, minorText, extent, stripes, devices = '', tags = ''] = cells
  const [major, minor] = [Number(majorText), Number(minorText)]
  return {
    size_bytes: Number(size),
    attributes,
    ...(major >= 0 && minor >= 0 && { numbers: { major, minor } }),
    extent_bytes: Number(extent),
    stripes: Math.max(1, Number(stripes)),
    devices: split(devices).map((place) => place.replace(/\(\d+\)$/, '')),
    tags: split(tags),
  }
}

const split = (list: string): string[] => list.split(',').filter((one) => one !== '')
