// gnt-network info, with the map of addresses.
import { pythonText } from '../../lib/text/python-text'
import type { Call } from '../command'
import { namesFilter } from '../input/filter-text'
import { wrap } from '../output/help'
import { tellMissing } from '../output/missing'

const FIELDS = [
  'name',
  'uuid',
  'serial_no',
  'network',
  'gateway',
  'network6',
  'gateway6',
  'mac_prefix',
  'free_count',
  'reserved_count',
  'map',
  'group_list',
  'inst_list',
  'external_reservations',
] as const
/** Addresses on one line of the map. */
const MAP_WIDTH = 64

export async function showNetworks(call: Call): Promise<number> {
  const rows = await call.master.queryNetworks(call.args, FIELDS, false)
  for (const row of rows) {
    const network = new Map<string, unknown>(FIELDS.map((name, at) => [name, row[at] ?? null]))
    for (const line of networkLines(network, await instanceLines(call, network))) call.terminal.out(line)
  }
  return tellMissing(
    call,
    'Network',
    rows.map(([name]) => name),
  )
}

function networkLines(network: ReadonlyMap<string, unknown>, instances: readonly string[]): string[] {
  const text = (name: string) => pythonText(network.get(name))
  const free = Number(network.get('free_count'))
  const size = free + Number(network.get('reserved_count'))
  const groups = Array.isArray(network.get('group_list')) ? (network.get('group_list') as unknown[]) : []
  return [
    `Network name: ${text('name')}`,
    `UUID: ${text('uuid')}`,
    `Serial number: ${text('serial_no')}`,
    `  Subnet: ${text('network')}`,
    `  Gateway: ${text('gateway')}`,
    `  IPv6 Subnet: ${text('network6')}`,
    `  IPv6 Gateway: ${text('gateway6')}`,
    `  Mac Prefix: ${text('mac_prefix')}`,
    `  Size: ${size}`,
    `  Free: ${free} (${((free / size) * 100).toFixed(2)}%)`,
    '  Usage map:',
    ...mapLines(text('map')),
    '         (X) used    (.) free',
    ...reservations(network.get('external_reservations')),
    ...(groups.length === 0
      ? ['  not connected to any node group']
      : ['  connected to node groups:', ...groups.map(connection)]),
    ...instances,
  ]
}

function mapLines(map: string): string[] {
  const lines: string[] = []
  for (let first = 0; first < map.length; first += MAP_WIDTH) {
    const part = map.slice(first, first + MAP_WIDTH)
    lines.push(`${String(first).padStart(9)} ${part.padEnd(MAP_WIDTH)} ${first + MAP_WIDTH - 1}`)
  }
  return lines
}

function reservations(text: unknown): string[] {
  if (typeof text !== 'string' || text === '') return []
  return ['  externally reserved IPs:', ...wrap(text, MAP_WIDTH).map((line) => `    ${line}`)]
}

function connection(group: unknown): string {
  const [name, mode, link, vlan] = Array.isArray(group) ? group.map(String) : []
  return `    ${name ?? ''} (mode:${mode ?? ''} link:${link ?? ''} vlan:${vlan ?? ''})`
}

/** Each instance in the network, with the index and address of its NICs there. */
async function instanceLines({ master }: Call, network: ReadonlyMap<string, unknown>): Promise<string[]> {
  const names = Array.isArray(network.get('inst_list')) ? (network.get('inst_list') as unknown[]).map(String) : []
  if (names.length === 0) return ['  not used by any instances']
  const fields = ['name', 'nic.ips', 'nic.networks']
  const { data } = await master.query('instance', fields, namesFilter('name', names))
  const lines = data.map((row) => {
    const [name, ips, networks] = row.map(([, value]) => value)
    const used = (Array.isArray(networks) ? networks : []).flatMap((uuid: unknown, at) =>
      uuid === network.get('uuid') ? [`${at}:${pythonText(Array.isArray(ips) ? (ips[at] as unknown) : null)}`] : [],
    )
    return `    ${String(name)}: ${used.join(', ')}`
  })
  return [`  used by ${names.length} instances:`, ...lines]
}
