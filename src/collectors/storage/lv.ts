// The node's logical volumes, and their instances.
import { disksByInstance, nodeInstances } from '../configuration'
import { askLvm } from './ask-lvm'
import { readJsonList } from './json-list'
import {
  type Collector,
  CollectorFailure,
  type Inputs,
  type NodeSources,
  fieldsOf,
  listOf,
  readSource,
} from '../report'
import { int, list, record, text } from '../shapes'
import { TextCursor } from '../text-cursor'
import { diskIdOf } from '../../model/templates'

export const lv: Collector = {
  ...{ name: 'lv', category: 'storage', kind: 'performance' },
  help: 'the logical volumes',
  inputs: {
    file: { short: 'f', help: 'read this file and not the real thing' },
    instances: { short: 'i', help: 'read the instances from this file' },
  },
  asksConfd: true,
  ...{ interval_s: 10, cost_ms: 50 },
  get shape() {
    const columns = COLUMNS.map(([name, , kind]) => [name, kind === 'text' ? text : int] as const)
    return list(record({ ...Object.fromEntries(columns), 'instance?': text }))
  },
  open: (sources, inputs) => ({ collect: () => collect(sources, inputs) }),
}

type Kind = 'text' | 'int' | 'bytes'
type Column = readonly [name: string, lvs: string, kind: Kind]

const COLUMNS: readonly [Column, ...Column[]] = [
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

/** `file` has the output of `lvs`, `instances` has `[[instance, [disk, ...]], ...]`. */
async function collect(sources: NodeSources, { file, instances }: Inputs): Promise<unknown> {
  const volumes = file === undefined ? await logicalVolumes(sources) : parseVolumes(await readSource(sources, file))
  if (file === undefined && volumes.length === 0) return []
  const owners = ownersOf(await instanceDisks(sources, instances))
  return volumes.map((volume) => {
    const instance = owners.get(`${volume['vg_name']}/${volume['name']}`)
    return instance === undefined ? volume : { ...volume, instance }
  })
}

type Volume = Readonly<Record<string, string | number>>

export async function logicalVolumes(sources: NodeSources): Promise<readonly Volume[]> {
  return parseVolumes(await askLvm(sources, COMMAND))
}

function parseVolumes(text: string): Volume[] {
  const cursor = new TextCursor(text)
  const rows: Volume[] = []
  while (!cursor.ended) {
    const [[first], ...others] = COLUMNS
    const uuid = cursor.skipBlanks().until(/;/)
    const more = others.map(([name, , kind]) => [name, valueOf(kind, cursor.character(';'))] as const)
    rows.push({ [first]: uuid, ...Object.fromEntries(more) })
    cursor.endOfLine()
  }
  return rows
}

function valueOf(kind: Kind, cursor: TextCursor): string | number {
  if (kind === 'text') return cursor.until(/[;\n]/)
  if (kind === 'int') return cursor.signed()
  const bytes = cursor.decimal()
  cursor.character('B')
  return bytes
}

/** `[instance, its disks]` of each. */
async function instanceDisks(sources: NodeSources, file: string | undefined): Promise<readonly unknown[]> {
  if (file !== undefined) return disksIn(await readSource(sources, file))
  const { primary, secondary } = await nodeInstances(sources, NO_INSTANCES)
  const instances = [...primary, ...secondary]
  const disks = await disksByInstance(
    sources,
    instances.map(({ name }) => String(name)),
  )
  return instances.map((one) => {
    const found = disks.get(String(one['name']))
    if (typeof found === 'string') throw noInstances(found)
    return [one, found ?? []]
  })
}

function disksIn(text: string): readonly unknown[] {
  const read = readJsonList(text)
  if ('wrong' in read) throw noInstances(`Not a list of instances: ${read.wrong}`)
  if (read.list.some((pair) => listOf(pair).length !== 2))
    throw noInstances('Not a list of instances: Unable to read Pair')
  return read.list
}

const noInstances = (why: string): CollectorFailure => new CollectorFailure(`${NO_INSTANCES}: ${why}`)

const NO_INSTANCES = 'Unable to obtain the list of instances'

/** By volume, as `group/name`. */
function ownersOf(instances: readonly unknown[]): Map<string, string> {
  const owners = new Map<string, string>()
  const note = (disk: unknown, name: string) => {
    const { dev_type, logical_id, children } = fieldsOf(disk)
    const volume = listOf(logical_id).join('/')
    if (diskIdOf(String(dev_type)) === 'volume' && !owners.has(volume)) owners.set(volume, name)
    for (const child of listOf(children)) note(child, name)
  }
  for (const pair of instances) {
    const [instance, disks] = listOf(pair)
    for (const disk of listOf(disks)) note(disk, String(fieldsOf(instance)['name']))
  }
  return owners
}
