// gnt-node: the commands about volumes and storage units.
import { pythonText } from '../../lib/text/python-text'
import { OpNodeModifyStorage, OpNodeQueryStorage, OpNodeQueryvols, OpRepairNodeStorage } from '../../opcodes/node'
import type { Call, Command } from '../command'
import { EXIT, refusal } from '../outcome'
import { formatUnit } from '../output/format'
import { selectedFields, unitsOf } from '../output/list'
import { opcodeOf, submitting } from '../submit/submit'
import { formatTable } from '../output/table'
import { STORAGE_TYPES_NODE_STORAGE } from '../../model/constants/disks'

const VOLUME_TITLES: Readonly<Record<string, string>> = {
  node: 'Node',
  phys: 'PhysDev',
  vg: 'VG',
  name: 'Name',
  size: 'Size',
  instance: 'Instance',
  dev: 'Device',
}

const STORAGE_TITLES: Readonly<Record<string, string>> = {
  node: 'Node',
  type: 'Type',
  name: 'Name',
  size: 'Size',
  used: 'Used',
  free: 'Free',
  allocatable: 'Allocatable',
}

interface Rows {
  readonly fields: readonly string[]
  readonly rows: unknown
}

async function volumes(call: Call): Promise<Rows> {
  const fields = selectedFields(call.options.text('output'), ['node', 'phys', 'vg', 'name', 'size', 'instance'])
  return { fields, rows: await call.jobs.run(opcodeOf(OpNodeQueryvols, { nodes: call.args, output_fields: fields })) }
}

async function storage(call: Call): Promise<Rows> {
  const defaults = ['node', 'type', 'name', 'size', 'used', 'free', 'allocatable']
  const fields = selectedFields(call.options.text('output'), defaults)
  const storage_type = call.options.text('user_storage_type')
  const op = opcodeOf(OpNodeQueryStorage, { nodes: call.args, storage_type, output_fields: fields })
  return { fields, rows: await call.jobs.run(op) }
}

const listing = (
  find: (call: Call) => Promise<Rows>,
  titles: Readonly<Record<string, string>>,
): Pick<Command, 'run' | 'data'> => ({
  async run(call) {
    const { fields, rows } = await find(call)
    return printRows(call, fields, titles, rows)
  },
  async data(call) {
    const { fields, rows } = await find(call)
    const list: unknown[] = Array.isArray(rows) ? rows : []
    return list.map((row) => Object.fromEntries(fields.map((name, at) => [name, Array.isArray(row) ? row[at] : null])))
  },
})

export const listVolumes = listing(volumes, VOLUME_TITLES)
export const listStorage = listing(storage, STORAGE_TITLES)

const SIZES: readonly string[] = ['size', 'used', 'free']

function printRows(
  call: Call,
  fields: readonly string[],
  titles: Readonly<Record<string, string>>,
  rows: unknown,
): number {
  const { options, terminal } = call
  const separator = options.text('separator')
  const units = unitsOf(options.text('units'), separator)
  const columns = fields.map((name) => ({ title: titles[name] ?? name, alignRight: SIZES.includes(name) }))
  const texts = (Array.isArray(rows) ? (rows as unknown[]) : []).map((row) =>
    fields.map((name, at) => cellText(name, Array.isArray(row) ? (row[at] as unknown) : null)),
  )
  for (const line of formatTable(columns, texts, { headers: !options.flag('no_headers'), separator, padTitles: true }))
    terminal.out(line)
  return EXIT.ok

  function cellText(name: string, value: unknown): string {
    if (SIZES.includes(name) && value !== null && Number.isFinite(Number(value)))
      return formatUnit(Number(value), units)
    if (typeof value === 'boolean') return value ? 'Y' : 'N'
    return pythonText(value)
  }
}

export async function modifyStorage({ args, options, jobs, terminal }: Call): Promise<number> {
  const [node_name, type, name] = args
  const storage_type = storageType(type)
  const allocatable = options.optionalFlag('allocatable')
  if (allocatable === undefined) terminal.err('No changes to perform, exiting.')
  else await jobs.run(opcodeOf(OpNodeModifyStorage, { node_name, storage_type, name, changes: { allocatable } }))
  return EXIT.ok
}

function storageType(type: string | undefined): string {
  const known = STORAGE_TYPES_NODE_STORAGE.find((one) => one === type)
  if (known !== undefined) return known
  throw refusal(`Unknown storage type: ${type}`)
}

export const repairStorage = submitting(OpRepairNodeStorage, ({ args, options }) => {
  const [node_name, type, name] = args
  return { ...options.parametersOf(OpRepairNodeStorage), node_name, storage_type: storageType(type), name }
})
