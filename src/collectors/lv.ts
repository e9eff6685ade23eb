// The logical volumes of the node, and whose disks they are.
import { CONFD } from '../rpc/confd/protocol'
import { CollectorFailure, type NodeSources, type Report, fieldsOf, listOf, readSource, reportOf } from './report'

export const LV = { name: 'lv', category: 'storage', kind: 'performance' } as const

type Kind = 'text' | 'int' | 'bytes'
type Column = readonly [name: string, lvs: string, kind: Kind]

const COLUMNS: readonly Column[] = [
  ['uuid', 'lv_uuid', 'text'],
  ['name', 'lv_name', 'text'],
  ['attr', 'lv_attr', 'text'],
  ['major', 'lv_major', 'int'],
  ['minor', 'lv_minor', 'int'],
  ['kernel_major', 'lv_kernel_major', 'int'],
  ['kernel_minor', 'lv_kernel_minor', 'int'],
  ['size', 'lv_size', 'bytes'],
  ['seg_count', 'seg_count', 'int'],
  ['tags', 'lv_tags', 'text'],
  ['modules', 'modules', 'text'],
  ['vg_uuid', 'vg_uuid', 'text'],
  ['vg_name', 'vg_name', 'text'],
  ['segtype', 'segtype', 'text'],
  ['seg_start', 'seg_start', 'bytes'],
  ['seg_start_pe', 'seg_start_pe', 'int'],
  ['seg_size', 'seg_size', 'bytes'],
  ['seg_tags', 'seg_tags', 'text'],
  ['seg_pe_ranges', 'seg_pe_ranges', 'text'],
  ['devices', 'devices', 'text'],
]

const COMMAND = [
  ...['lvs', '--noheadings', '--units', 'B', '--separator', ';', '-o'],
  COLUMNS.map(([, column]) => column).join(','),
]

export interface LvFiles {
  /** What `lvs` printed. */
  readonly volumes?: string | undefined
  /** Instances and their disks: `[[instance, [disk, ...]], ...]`. */
  readonly instances?: string | undefined
}

export async function lv(sources: NodeSources, files: LvFiles = {}): Promise<Report> {
  const text = files.volumes === undefined ? await sources.run(COMMAND) : readSource(sources, files.volumes)
  const volumes = parseVolumes(text)
  const owners = ownersOf(await instanceDisks(sources, files.instances))
  const rows = volumes.map((volume) => {
    const instance = owners.get(`${volume['vg_name']}/${volume['name']}`)
    return instance === undefined ? volume : { ...volume, instance }
  })
  return reportOf(LV, sources.clock, rows)
}

export function parseVolumes(text: string): Readonly<Record<string, string | number>>[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return lines.map((line) => {
    const words = line.trimStart().split(';')
    const row = COLUMNS.map(([name, , kind], at) => [name, valueOf(kind, words[at] ?? '')] as const)
    if (words.length !== COLUMNS.length || row.some(([, value]) => Number.isNaN(value))) {
      throw new CollectorFailure(`not a line of lvs with its ${COLUMNS.length} columns: "${line}"`)
    }
    return Object.fromEntries(row)
  })
}

function valueOf(kind: Kind, text: string): string | number {
  if (kind === 'text') return text
  const digits = kind === 'bytes' ? /^(\d+)B$/.exec(text)?.[1] : /^-?\d+$/.exec(text)?.[0]
  return Number(digits)
}

/** `[instance, its disks]` of each. */
async function instanceDisks(sources: NodeSources, file: string | undefined): Promise<readonly unknown[]> {
  try {
    if (file !== undefined) return listOf(JSON.parse(readSource(sources, file)))
    const instances = listOf(await sources.ask(CONFD.nodeInstances, sources.hostname)).flatMap(listOf)
    const real = instances.filter((one) => fieldsOf(one)['forthcoming'] !== true)
    return await Promise.all(
      real.map(async (one) => [one, await sources.ask(CONFD.instanceDisks, String(fieldsOf(one)['name']))]),
    )
  } catch (error) {
    if (error instanceof CollectorFailure) throw error
    const text = error instanceof Error ? error.message : String(error)
    throw new CollectorFailure(`Unable to obtain the list of instances: ${text}`)
  }
}

/** By volume, as `group/name`. */
function ownersOf(instances: readonly unknown[]): Map<string, string> {
  const owners = new Map<string, string>()
  const note = (disk: unknown, name: string) => {
    const { dev_type, logical_id, children } = fieldsOf(disk)
    const volume = listOf(logical_id).join('/')
    if (dev_type === 'plain' && !owners.has(volume)) owners.set(volume, name)
    for (const child of listOf(children)) note(child, name)
  }
  for (const pair of instances) {
    const [instance, disks] = listOf(pair)
    for (const disk of listOf(disks)) note(disk, String(fieldsOf(instance)['name']))
  }
  return owners
}
