// gnt-instance info.
import { isIPv4 } from 'node:net'
import { pythonRepr, pythonText } from '../../lib/text/python-text'
import { LOCAL_DISK_STATUS } from '../../model/constants/disks'
import { VNC_BASE_PORT } from '../../model/constants/daemons'
import { OpInstanceQueryData } from '../../opcodes/instance'
import type { Call } from '../command'
import { CommandFailure, EXIT } from '../outcome'
import { infoData } from '../output/data'
import { formatTime, formatUnit } from '../output/format'
import { type Info, entries, formatInfo } from '../output/info'
import { opcodeOf } from '../submit/submit'
import { diskIdOf, isDrbd } from '../../model/templates'

type Dict = Readonly<Record<string, unknown>>

/** The data of instances, with the fields of /3. */
export async function instanceData(call: Call): Promise<unknown> {
  checkChoice(call)
  return infoData('instance', 'name')(call)
}

export async function showInstances(call: Call): Promise<number> {
  const { args, options, terminal } = call
  checkChoice(call)
  const isStatic = options.flag('static')
  const result = await call.jobs.run(
    opcodeOf(OpInstanceQueryData, { instances: args, static: isStatic, use_locking: !isStatic }),
  )
  const found = isDict(result) ? Object.values(result).filter(isDict) : []
  if (found.length === 0) throw new CommandFailure('No instances.')
  for (const line of formatInfo(found.map(instanceInfo))) terminal.out(line)
  return EXIT.ok
}

function checkChoice({ args, options }: Call): void {
  const all = options.flag('show_all')
  if (all === args.length > 0)
    throw new CommandFailure(
      all
        ? 'Cannot use --all if you specify instance names.'
        : 'No instance selected. Please pass in --all if you want to query all instances.\n' +
            'Note that this can take a long time on a big cluster.',
    )
}

const isDict = (value: unknown): value is Dict => typeof value === 'object' && value !== null && !Array.isArray(value)
const dict = (value: unknown): Dict => (isDict(value) ? value : {})
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

function stateOf({ name, forthcoming, disks_active: active, config_state: desired, run_state: running }: Dict): string {
  if (forthcoming === true)
    return `${active === true ? 'not made to its end' : 'only reserved'}; 'gnt-instance add --commit ${pythonText(name)}' makes it`
  const actual = running === null || running === undefined ? '' : `, actual state is ${pythonText(running)}`
  return `configured to be ${pythonText(desired)}${actual}`
}

function instanceInfo(instance: Dict): Info {
  const beActual = dict(instance['be_actual'])
  return entries(
    ['Instance name', pythonText(instance['name'])],
    ['UUID', pythonText(instance['uuid'])],
    ['Serial number', pythonText(instance['serial_no'])],
    ['Creation time', formatTime(instance['ctime'])],
    ['Modification time', formatTime(instance['mtime'])],
    ['State', stateOf(instance)],
    ['Nodes', nodesInfo(instance)],
    ['Operating system', pythonText(instance['os'])],
    ['Operating system parameters', params(dict(instance['os_instance']), dict(instance['os_actual']))],
    ['Allocated network port', pythonText(instance['network_port'])],
    ['Hypervisor', pythonText(instance['hypervisor'])],
    ...vncConsole(instance),
    ['Hypervisor parameters', params(dict(instance['hv_instance']), dict(instance['hv_actual']))],
    [
      'Back-end parameters',
      // Old clients only know one memory size.
      params(dict(instance['be_instance']), { ...beActual, memory: beActual['maxmem'] }),
    ],
    ['NICs', list(instance['nics']).map((nic, at) => nicInfo(nic, at, list(instance['user_nics']).includes(at)))],
    ['Disk template', pythonText(instance['disk_template'])],
    ['Disks', list(instance['disks']).map((disk, at) => diskInfo(dict(disk), `disk/${at}`))],
  )
}

/** Administrators and programs look for the port of the VNC screen here. */
function vncConsole({ hv_actual: actual, network_port: port, pnode: node }: Dict): [string, Info][] {
  const { vnc_bind_address: bind } = dict(actual)
  if (typeof bind !== 'string' || bind === '') return []
  const display = Number(port) - VNC_BASE_PORT
  const [name, place] = [pythonText(node), pythonText(port)]
  const screen =
    !isIPv4(bind) || !(display > 0)
      ? `${name}:${bind}`
      : bind === IP4_ANY
        ? `${name}:${place} (display ${display})`
        : `${bind}:${place} (node ${name}) (display ${display})`
  return [['console connection', `vnc to ${screen}`]]
}

const IP4_ANY = '0.0.0.0'

function nodesInfo(instance: Dict): Info {
  const names = list(instance['snodes_group_names'])
  const uuids = list(instance['snodes_group_uuids'])
  const secondaries = list(instance['snodes']).map(
    (node, at) => `${pythonText(node)} (group ${pythonText(names[at])}, group UUID ${pythonText(uuids[at])})`,
  )
  return [
    entries(
      ['primary', pythonText(instance['pnode'])],
      ['group', `${pythonText(instance['pnode_group_name'])} (UUID ${pythonText(instance['pnode_group_uuid'])})`],
    ),
    entries(['secondaries', secondaries.join(', ')]),
  ]
}

/** Every effective parameter; those not set on the instance are marked as defaults. */
function params(own: Dict, actual: Dict): Info {
  return new Map(
    Object.keys(actual)
      .sort()
      .map((name) => [
        name,
        Object.hasOwn(own, name) ? pythonText(own[name]) : `default (${pythonText(actual[name])})`,
      ]),
  )
}

function nicInfo(nic: unknown, at: number, userMode: boolean): Info {
  const [name, uuid, ip, mac, mode, link, vlan, network, details] = list(nic)
  return entries(
    [`nic/${at}`, ''],
    ['MAC', pythonText(mac)],
    ['IP', pythonText(ip)],
    ['mode', pythonText(mode)],
    ['link', pythonText(link)],
    ['vlan', pythonText(vlan)],
    ...(userMode ? [['connection', USER_MODE_TEXT] as const] : []),
    ['network', isDict(details) ? pythonText(details['name']) : pythonText(network)],
    ['UUID', pythonText(uuid)],
    ['name', pythonText(name)],
  )
}

const USER_MODE_TEXT = "QEMU's user-mode network (the guest reaches out, nobody reaches in)"

function diskInfo(disk: Dict, label: string, isPart = false): Info {
  const size = typeof disk['size'] === 'number' ? formatUnit(disk['size'], 'h') : pythonText(disk['size'])
  const pairs: [string, Info][] = [[label, `${pythonText(disk['dev_type'])}, size ${size}`]]
  if (disk['spindles'] !== null && disk['spindles'] !== undefined)
    pairs.push(['spindles', pythonText(disk['spindles'])])
  const parameters = list(disk['parameters']).map((one): [string, Info] => {
    const { name, value, source } = dict(one)
    return [String(name), `${pythonText(value)} (${String(source)})`]
  })
  if (parameters.length > 0) pairs.push(['parameters', entries(...parameters)])
  const snapshots = list(disk['snapshots']).map((one): [string, Info] => {
    const { name, size: then, status } = dict(one)
    const reported = typeof then === 'number' ? formatUnit(then, 'h') : pythonText(then)
    return [String(name), `size ${reported}, ${SNAPSHOT_WORDS.get(String(status)) ?? String(status)}`]
  })
  if (snapshots.length > 0) pairs.push(['snapshots', entries(...snapshots)])
  // Guests do not see the parts of a disk.
  if (!isPart) pairs.push(['access mode', pythonText(disk['mode'])])
  pairs.push(
    ...(isDrbd(String(disk['dev_type'])) ? drbdInfo(dict(disk['drbd_info'])) : logicalInfo(disk['logical_id'])),
  )
  for (const [key, title] of [
    ['pstatus', 'on primary'],
    ['sstatus', 'on secondary'],
  ] as const)
    if (Array.isArray(disk[key])) pairs.push([title, deviceStatus(disk['dev_type'], list(disk[key]))])
  pairs.push(['name', pythonText(disk['name'])], ['UUID', pythonText(disk['uuid'])])
  const children = list(disk['children'])
  if (children.length > 0)
    pairs.push(['child devices', children.map((child, at) => diskInfo(dict(child), `child ${at}`, true))])
  return entries(...pairs)
}

const SNAPSHOT_WORDS: ReadonlyMap<string, string> = new Map([
  ['ok', 'status ok'],
  ['invalid', '*INVALID* (it has run full)'],
  ['missing', '*MISSING*'],
  ['restoring', 'its disk is *ROLLED BACK IN PART*'],
  ['unknown', 'status unknown'],
])

const logicalInfo = (id: unknown): [string, Info][] => [
  ['logical_id', Array.isArray(id) && id.length === 2 && isVolume(id) ? id.map(String).join('/') : pythonRepr(id)],
]

/** `[volume group, volume]`; the ids of files begin with a driver and have an absolute path. */
const isVolume = ([, name]: readonly unknown[]): boolean => typeof name === 'string' && !name.startsWith('/')

function drbdInfo(info: Dict): [string, Info][] {
  const end = (which: string) => `${pythonText(info[`${which}_node`])}, minor=${pythonText(info[`${which}_minor`])}`
  return [
    ['nodeA', end('primary')],
    ['nodeB', end('secondary')],
    ['port', pythonText(info['port'])],
  ]
}

function deviceStatus(type: unknown, status: readonly unknown[]): string {
  if (status.length === 0) return 'not active'
  const [path, major, minor, percent, estimate, degraded, local] = status
  // An image that nobody has mapped, or that only the hypervisor reaches.
  if (path === '') return 'no device on the node'
  const number = (value: unknown) => (value === null || value === undefined ? 'N/A' : pythonText(value))
  const device = `${pythonText(path)} (${number(major)}:${number(minor)})`
  if (diskIdOf(String(type)) === 'volume')
    return device + (local === LOCAL_DISK_STATUS.faulty ? ' *FAILED* (failed drive?)' : '')
  if (!isDrbd(String(type))) return device
  const sync =
    typeof percent === 'number'
      ? `*RECOVERING* ${percent.toFixed(2).padStart(5)}%, ETA ${typeof estimate === 'number' && estimate !== 0 ? `${estimate}s` : 'unknown'}`
      : 'in sync'
  const words =
    local === LOCAL_DISK_STATUS.faulty
      ? ' *MISSING DISK*'
      : local === LOCAL_DISK_STATUS.unknown
        ? ' *UNCERTAIN STATE*'
        : ''
  return `${device} ${sync}, status ${degraded === true ? '*DEGRADED*' : 'ok'}${words}`
}
