// gnt-cluster info, version and getmaster, and instance policies for people.
import { pythonText } from '../../lib/text/python-text'
import { clusterShape } from '../../query/object-shapes'
import { administrator, gantryOf } from '../administrator'
import type { Call } from '../command'
import { EXIT } from '../outcome'
import { ES_SEARCH_PATH, OS_SEARCH_PATH } from '../../model/constants/paths'
import { MAINTENANCE_PARAMETERS } from '../../model/maintenance'
import { formatTime } from '../output/format'
import { withDefaults } from '../node/info'
import { type Info, entries, formatInfo, toInfo } from '../output/info'

type Dict = Readonly<Record<string, unknown>>

export async function showCluster({ master, terminal }: Call): Promise<number> {
  const info = await master.queryClusterInfo()
  // Ganeti's call lacks the fields that only Gantry has.
  const ours = await master.gantry?.cluster(administrator('root'))
  for (const line of formatInfo(clusterInfo(info, dict(ours)))) terminal.out(line)
  return EXIT.ok
}

/** In the form of /3. */
export async function clusterData({ master }: Call): Promise<unknown> {
  const info = await gantryOf({ master }).cluster(administrator('root'))
  return clusterShape(info)
}

export async function showVersion({ master, terminal }: Call): Promise<number> {
  const info = await master.queryClusterInfo()
  for (const [title, key] of VERSIONS) terminal.out(`${title}: ${pythonText(info[key])}`)
  return EXIT.ok
}

export async function versionData({ master }: Call): Promise<unknown> {
  const info = await master.queryClusterInfo()
  return Object.fromEntries(VERSIONS.map(([, key]) => [key, info[key]]))
}

const VERSIONS = [
  ['Software version', 'software_version'],
  ['Internode protocol', 'protocol_version'],
  ['Configuration format', 'config_version'],
  ['OS api version', 'os_api_version'],
  ['Export interface', 'export_version'],
  ['VCS version', 'vcs_version'],
] as const

/** Every node knows this, even without a master. */
async function masterName({ master, thisNode }: Call): Promise<unknown> {
  const node = await thisNode().catch(() => undefined)
  const known = (await node?.disk.read(node.paths.ssconf('master_node')))?.toString('utf8').trim()
  const [name] = known === undefined ? await master.queryConfigValues(['master_node']) : [known]
  return name
}

export async function showMaster(call: Call): Promise<number> {
  call.terminal.out(pythonText(await masterName(call)))
  return EXIT.ok
}

export const masterData = async (call: Call): Promise<unknown> => ({ master: await masterName(call) })

/** Prints nothing: the exit code says whether the master answers. */
export async function pingMaster({ master }: Call): Promise<number> {
  await master.queryConfigValues(['master_node'])
  return EXIT.ok
}

export const pingData = async (call: Call): Promise<unknown> => {
  await pingMaster(call)
  return { answers: true }
}

const dict = (value: unknown): Dict =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Dict) : {}
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const joined = (value: unknown): string => list(value).map(pythonText).join(', ')

function clusterInfo(info: Dict, ours: Dict): Info {
  const text = (key: string) => pythonText(info[key])
  const enabled = list(info['enabled_hypervisors']).map(String)
  const hvparams = Object.fromEntries(Object.entries(dict(info['hvparams'])).filter(([name]) => enabled.includes(name)))
  return entries(
    ['Cluster name', text('name')],
    ['Cluster UUID', text('uuid')],
    ['Creation time', formatTime(info['ctime'])],
    ['Modification time', formatTime(info['mtime'])],
    ['Master node', text('master')],
    ['Architecture (this node)', architecture(list(info['architecture']))],
    ['Tags', list(info['tags']).length === 0 ? '(none)' : joined(info['tags'])],
    ['Default hypervisor', enabled[0] ?? ''],
    ['Enabled hypervisors', enabled.join(', ')],
    ['Hypervisor parameters', toInfo(hvparams)],
    ['OS-specific hypervisor parameters', toInfo(info['os_hvp'] ?? {})],
    ['OS parameters', toInfo(info['osparams'] ?? {})],
    ['Hidden OSes', joined(info['hidden_os'])],
    ['Blacklisted OSes', joined(info['blacklisted_os'])],
    ['Cluster parameters', clusterParameters(info, dict(ours['default_iallocators']))],
    ['Default node parameters', toInfo(info['ndparams'] ?? {})],
    ['Default instance parameters', toInfo(info['beparams'] ?? {})],
    ['Default nic parameters', toInfo(info['nicparams'] ?? {})],
    ['Default disk parameters', toInfo(info['diskparams'] ?? {})],
    ['Instance policy - limits for instances', policyInfo(dict(info['ipolicy']))],
    ['Data collectors', collectors(info)],
    ...(ours['user_space_storage'] === true ? [['Storage', USER_SPACE] as const] : []),
    ...maintenance(ours),
  )
}

const USER_SPACE = 'volumes and mirrored disks in user space, for trying out (no LVM and no DRBD is used)'

/** Some have the names of an older Ganeti. */
function maintenance(ours: Dict): (readonly [string, Info])[] {
  const reported = Object.values(MAINTENANCE_PARAMETERS).filter((name) => ours[name] !== undefined)
  const lines = reported.map((name) => [name, ours[name] === '' ? '(none)' : pythonText(ours[name])] as const)
  return lines.length === 0 ? [] : [['Maintenance', entries(...lines)]]
}

const architecture = ([bits, machine]: readonly unknown[]): string => `${pythonText(bits)} (${pythonText(machine)})`

function clusterParameters(info: Dict, allocators: Dict): Info {
  const text = (key: string) => pythonText(info[key])
  const tools: Info = list(info['compression_tools']).map(pythonText)
  return entries(
    ['candidate pool size', text('candidate_pool_size')],
    ['maximal number of jobs running simultaneously', text('max_running_jobs')],
    ['maximal number of jobs simultaneously tracked by the scheduler', text('max_tracked_jobs')],
    ['mac prefix', text('mac_prefix')],
    ['master netdev', text('master_netdev')],
    ['master netmask', text('master_netmask')],
    ['use external master IP address setup script', text('use_external_mip_script')],
    ['lvm volume group', text('volume_group_name')],
    ['lvm reserved volumes', joined(info['reserved_lvs']) || '(none)'],
    ['drbd usermode helper', text('drbd_usermode_helper')],
    ['file storage path', text('file_storage_dir')],
    ['shared file storage path', text('shared_file_storage_dir')],
    ['gluster storage path', text('gluster_storage_dir')],
    ['maintenance of node health', text('maintain_node_health')],
    ['uid pool', uidPool(list(info['uid_pool']))],
    ['default instance allocator', text('default_iallocator')],
    ['default instance allocator parameters', toInfo(info['default_iallocator_params'] ?? {})],
    ...Object.entries(allocators).map(
      ([kind, names]) => [`default instance allocators for ${kind}`, joined(names)] as const,
    ),
    ['primary ip version', text('primary_ip_version')],
    ['preallocation wipe disks', text('prealloc_wipe_disks')],
    ['OS search path', joined(OS_SEARCH_PATH)],
    ['ExtStorage Providers search path', joined(ES_SEARCH_PATH)],
    ['enabled disk templates', joined(info['enabled_disk_templates'])],
    ['install image', text('install_image')],
    ['instance communication network', text('instance_communication_network')],
    ['zeroing image', text('zeroing_image')],
    ['compression tools', tools],
    ['enabled user shutdown', text('enabled_user_shutdown')],
    ['modify ssh setup', text('modify_ssh_setup')],
    ['ssh_key_type', text('ssh_key_type')],
    ['ssh_key_bits', text('ssh_key_bits')],
  )
}

/** `100-200, 300` */
const uidPool = (ranges: readonly unknown[]): string =>
  ranges
    .map(list)
    .map(([low, high]) => (low === high ? String(low) : `${String(low)}-${String(high)}`))
    .join(', ')

/** The group's own values, and the cluster's for the rest, marked as such. */
export function groupPolicyInfo(own: Dict, policy: Dict): Info {
  const ownBounds = list(own['minmax'])
  const bounds = (ownBounds.length > 0 ? ownBounds : list(policy['minmax'])).map((pair, at) =>
    entries(
      ...['min', 'max'].map((end): [string, Info] => [
        `${end}/${at}`,
        withDefaults(ownBounds.length > 0 ? dict(pair)[end] : {}, dict(pair)[end]),
      ]),
    ),
  )
  const marked = (name: string, text: (value: unknown) => string): [string, Info] => [
    name === 'disk-templates' ? 'allowed disk templates' : name,
    own[name] === undefined ? `default (${text(policy[name])})` : text(own[name]),
  ]
  return entries(
    ['bounds specs', bounds],
    marked('disk-templates', joined),
    marked('vcpu-ratio', pythonText),
    marked('spindle-ratio', pythonText),
  )
}

function policyInfo(policy: Dict): Info {
  const info = new Map<string, Info>()
  if (policy['minmax'] !== undefined)
    info.set(
      'bounds specs',
      list(policy['minmax']).map((pair, at) =>
        entries([`min/${at}`, toInfo(dict(pair)['min'])], [`max/${at}`, toInfo(dict(pair)['max'])]),
      ),
    )
  if (policy['std'] !== undefined) info.set('std', toInfo(policy['std']))
  if (policy['disk-templates'] !== undefined) info.set('allowed disk templates', joined(policy['disk-templates']))
  for (const name of ['vcpu-ratio', 'spindle-ratio'])
    if (policy[name] !== undefined) info.set(name, pythonText(policy[name]))
  return info
}

function collectors(info: Dict): Info {
  const enabled = dict(info['enabled_data_collectors'])
  const intervals = dict(info['data_collector_interval'])
  const names = [...new Set([...Object.keys(enabled), ...Object.keys(intervals)])].sort()
  return new Map(
    names.map((name) => [
      name,
      entries(['active', pythonText(enabled[name])], ['interval', `${(Number(intervals[name]) / 1e6).toFixed(3)}s`]),
    ]),
  )
}
