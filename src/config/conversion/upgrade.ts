// Converts configurations of Ganeti 2.7 to 3.0 to 3.1. Each step handles one difference and ignores everything else, so
// all steps can run on any version.
import type { Random } from '../../lib/random'
import { isObject } from '../../lib/shapes/shape'
import { GANETI_COLLECTORS, DATA_COLLECTOR_INTERVAL } from '../../model/constants/collectors'
import { CLUSTER_ONLY_HVPARAMS } from '../../model/constants/hypervisors'
import { CONFIG_VERSION } from '../../model/constants/versions'
import { IPOLICY_DEFAULTS, NIC_DEFAULTS } from '../../model/constants/params'
import { ConfigurationError } from '../../model/errors'
import { clusterDefaults } from '../init'
import { upgradeDisks } from './disks'
import { fill, objectAt, objectsIn, rawList, textOf, type Raw } from './raw'

/** The oldest version, and the last one of 2.x. */
const OLDEST = 2_070_000
const LAST_OF_2 = 2_160_000
const FIRST_OF_3 = 3_000_000

export const isUpgradable = (version: number): boolean =>
  (version >= OLDEST && version < LAST_OF_2 + 10_000) || (version >= FIRST_OF_3 && version < CONFIG_VERSION)

/** Changes the configuration. Returns notices for the administrator. */
export function upgradeConfig(config: Raw, random: Pick<Random, 'uuid'>): string[] {
  const notices: string[] = []
  const cluster = objectAt(config, 'cluster', 'the configuration')
  if ('config_version' in cluster)
    throw new ConfigurationError('Configuration: the cluster has a key "config_version", which no configuration has')
  config['version'] = CONFIG_VERSION
  fill(config, { networks: {}, filters: {}, nodegroups: {}, instances: {} })
  upgradeInstances(config, random, notices)
  upgradeDisks(config, random, notices)
  upgradeCluster(config, cluster, notices)
  for (const group of objectsIn(config, 'nodegroups')) upgradeGroup(group, cluster)
  for (const node of objectsIn(config, 'nodes')) upgradeNode(node)
  for (const network of objectsIn(config, 'networks')) fill(network, { tags: [] })
  return notices
}

function upgradeCluster(config: Raw, cluster: Raw, notices: string[]): void {
  upgradeHypervisors(cluster, notices)
  upgradePolicy(cluster, IPOLICY_DEFAULTS as unknown as Raw, false)
  for (const group of Object.values(isObject(cluster['beparams']) ? cluster['beparams'] : {}))
    if (isObject(group)) upgradeMemory(group)
  upgradeTemplates(config, cluster)
  if (cluster['ssh_key_type'] === undefined) notices.push('the cluster has SSH keys of the old kind, dsa: gnt-cluster renew-crypto --new-ssh-keys --ssh-key-type=rsa makes better ones') // prettier-ignore
  const collectors = GANETI_COLLECTORS.map((name) => [name, { active: true, interval: DATA_COLLECTOR_INTERVAL }])
  // The type of all keys before there was a choice.
  fill(cluster, { ssh_key_type: 'dsa', ssh_key_bits: 1024, candidate_certs: {}, tags: [], serial_no: 1 })
  fill(cluster, { data_collectors: Object.fromEntries(collectors) })
  // Older clusters have no Gluster.
  fill(cluster, { gluster_storage_dir: '' })
  const { data_collectors: _ours, ...defaults } = clusterDefaults()
  fill(cluster, defaults)
  allowEnabled(cluster, cluster)
  if (Object.keys(objectAt(cluster, 'candidate_certs', 'the cluster')).length === 0) notices.push('no master candidate has a client certificate: gnt-cluster renew-crypto --new-node-certificates makes them') // prettier-ignore
}

function upgradeHypervisors(cluster: Raw, notices: string[]): void {
  const { hvparams } = cluster
  if (!isObject(hvparams)) return
  for (const name of ['xen-pvm', 'xen-hvm']) if (isObject(hvparams[name])) delete hvparams[name]['xen_cmd']
  if (isObject(hvparams['kvm'])) withoutDefaultDiscard(hvparams['kvm'], 'the cluster', notices)
}

/** 3.1 has no word for QEMU's default, which was to ignore discards. */
function withoutDefaultDiscard(params: Raw, owner: string, notices: string[]): void {
  if (params['disk_discard'] !== 'default') return
  params['disk_discard'] = 'ignore'
  notices.push(`disk_discard of ${owner} was "default", and is "ignore" now`)
}

/** Old policies have one pair of ranges; new ones have a list of pairs. */
function upgradePolicy(owner: Raw, defaults: Raw, isGroup: boolean): void {
  const policy = owner['ipolicy']
  if (!isObject(policy)) return
  // An empty pair had no effect: the group keeps the cluster's ranges.
  const said = ['min', 'max'].filter((key) => isObject(policy[key]) && Object.keys(policy[key]).length > 0)
  if (said.length > 0) policy['minmax'] = [Object.fromEntries(said.map((key) => [key, policy[key]]))]
  delete policy['min']
  delete policy['max']
  if (isGroup) delete policy['std']
  const [desired] = rawList(defaults['minmax'])
  const [first] = rawList(policy['minmax'])
  if (first !== undefined && desired !== undefined) fill(first, desired)
}

function upgradeTemplates(config: Raw, cluster: Raw): void {
  if (Array.isArray(cluster['enabled_disk_templates']) && cluster['enabled_disk_templates'].length > 0) return
  const used = new Set(objectsIn(config, 'disks').map((disk) => textOf(disk['dev_type'])))
  if (objectsIn(config, 'instances').some(({ disks }) => !Array.isArray(disks) || disks.length === 0))
    used.add('diskless')
  if (textOf(cluster['volume_group_name']) !== '') for (const template of ['drbd', 'plain']) used.add(template)
  const inOrder = PREFERENCE.filter((template) => used.has(template))
  cluster['enabled_disk_templates'] = [...inOrder, ...[...used].filter((template) => !PREFERENCE.includes(template))]
}

/**
 * While a policy allows a template that is not enabled, every other change of it is refused. So we remove such
 * templates.
 */
function allowEnabled(owner: Raw, cluster: Raw): void {
  const policy = owner['ipolicy']
  const [allowed, enabled] = [isObject(policy) && policy['disk-templates'], cluster['enabled_disk_templates']]
  if (!isObject(policy) || !Array.isArray(allowed) || !Array.isArray(enabled)) return
  const both = allowed.filter((template) => enabled.includes(template))
  if (both.length > 0) policy['disk-templates'] = both
}

/** The first enabled one becomes the default. */
const PREFERENCE: readonly string[] = [
  ...['blockdev', 'diskless', 'drbd', 'ext', 'file', 'plain', 'rbd', 'sharedfile', 'gluster'],
]

function upgradeGroup(group: Raw, cluster: Raw): void {
  upgradePolicy(group, objectAt(cluster, 'ipolicy', 'the cluster'), true)
  allowEnabled(group, cluster)
  const networks = isObject(group['networks']) ? group['networks'] : {}
  for (const params of Object.values(networks)) if (isObject(params)) fill(params, { ...NIC_DEFAULTS })
  fill(group, {
    ...{ networks: {}, ndparams: {}, diskparams: {}, ipolicy: {} },
    ...{ alloc_policy: 'preferred', serial_no: 1, tags: [] },
  })
}

function upgradeNode(node: Raw): void {
  fill(node, { master_capable: true, vm_capable: true, powered: true, ndparams: {}, tags: [], serial_no: 1 })
  // It belongs to groups; a node cannot differ.
  delete objectAt(node, 'ndparams', `node ${textOf(node['name'])}`)['exclusive_storage']
}

function upgradeInstances(config: Raw, random: Pick<Random, 'uuid'>, notices: string[]): void {
  const networks = new Map(objectsIn(config, 'networks').map(({ name, uuid }) => [name, uuid]))
  for (const instance of objectsIn(config, 'instances')) {
    const name = textOf(instance['name'])
    for (const nic of rawList(instance['nics'])) {
      const uuid = networks.get(nic['network'])
      if (uuid !== undefined) nic['network'] = uuid
      fill(nic, { nicparams: {}, uuid: random.uuid() })
    }
    fill(instance, {
      ...{ hvparams: {}, beparams: {}, osparams: {}, osparams_private: {}, nics: [], disks: [], tags: [] },
      ...{ admin_state_source: 'admin', disks_active: instance['admin_state'] === 'up', serial_no: 1 },
    })
    const hvparams = objectAt(instance, 'hvparams', `instance ${name}`)
    for (const param of [...CLUSTER_ONLY_HVPARAMS, 'xen_cmd']) delete hvparams[param]
    withoutDefaultDiscard(hvparams, `instance ${name}`, notices)
    upgradeMemory(objectAt(instance, 'beparams', `instance ${name}`))
  }
}

/** One size became a smallest and a largest size. */
function upgradeMemory(params: Raw): void {
  const { memory } = params
  delete params['memory']
  if (memory !== undefined) fill(params, { minmem: memory, maxmem: memory })
}
