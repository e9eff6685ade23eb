// The checks that each node of a group is asked to make (spec: noded-rpc.json "node_verify_checks").
import { fillNdParams, fillNicParams } from '../../../config/filled'
import { masterNode } from '../../../config/lookup'
import { recordValues } from '../../../config/records'
import type { Cluster, ConfigData } from '../../../model/config'
import { PATH } from '../../../model/constants/paths'
import { drbdRequest } from './drbd'
import type { Scope } from './group-state'
import { hvSources } from './hv-sources'
import { isOnLvm, factsOf, directoryOf, isInFileSystem } from '../../../model/templates'

/** The opcode's parameters that the request depends on. */
export interface Wanted {
  readonly verify_clutter: boolean
}

/** Asks for a node's version of Gantry; only packages have one. */
export const RELEASE_CHECK = { 'gantry-release': null }

export function requestOf(scope: Scope, desired: Wanted, filelist: readonly string[]): Record<string, unknown> {
  const { config, nodes } = scope
  const { cluster } = config
  const online = nodes.filter((node) => !node.offline)
  const candidates = online.filter((node) => node.master_candidate).map((node) => node.name)
  return {
    filelist,
    ...(cluster.modify_ssh_setup && {
      nodelist: sshTargets(scope, candidates),
      'ssh-setup': [sshStatus(config), cluster.ssh_key_type],
      ...(desired.verify_clutter && { 'ssh-clutter': true }),
    }),
    hypervisor: cluster.enabled_hypervisors,
    hvparms: hvSources(config, scope.instances),
    'node-net-test': [online.map((node) => [node.name, node.primary_ip, node.secondary_ip]), candidates],
    instancelist: cluster.enabled_hypervisors,
    version: null,
    hvinfo: cluster.enabled_hypervisors[0],
    nodesetup: null,
    time: null,
    'master-ip': [masterNode(config)?.name, cluster.master_ip, candidates],
    oslist: null,
    nonvmnodes: nodes.filter((node) => !node.vm_capable).map((node) => node.name),
    'user-scripts': cluster.use_external_mip_script ? [PATH.EXTERNAL_MASTER_SETUP_SCRIPT] : [],
    'client-cert': null,
    // Ours: Ganeti's nodes ignore it.
    'gantry-owners': null,
    'gantry-old-machines': cluster.enabled_hypervisors,
    'gantry-set-aside': null,
    ...RELEASE_CHECK,
    ...volumes(cluster),
    ...drbdRequest(cluster),
    ...fileStorage(config),
    ...unlessEmpty('bridges', bridges(scope)),
    ...unlessEmpty('oob-paths', oobPrograms(config)),
    ...(nodes.some((node) => fillNdParams(config, node).exclusive_storage) && { 'exclusive-pvs': true }),
  }
}

/** The volume group in use; undefined if no enabled template uses it. */
export const volumeGroupOf = (cluster: Cluster): string | undefined =>
  cluster.enabled_disk_templates.some((template) => isOnLvm(template)) ? cluster.volume_group_name : undefined

function volumes(cluster: Cluster): Record<string, unknown> {
  const group = volumeGroupOf(cluster)
  return group === undefined ? {} : { vglist: null, lvlist: group, pvlist: [group] }
}

function fileStorage(config: ConfigData): Record<string, unknown> {
  const { cluster } = config
  const enabled = cluster.enabled_disk_templates
  const checks = enabled.flatMap((template) => {
    const [question] = factsOf(template).check ?? []
    return question === undefined ? [] : [[question, directoryOf(cluster, template)] as const]
  })
  const allowed = enabled.some(isInFileSystem) && { 'allowed-file-storage-paths': masterNode(config)?.name }
  return { ...allowed, ...Object.fromEntries(checks) }
}

/** Nodes talk to all of their own group, and to one of every other group. */
function sshTargets({ config, group, nodes }: Scope, candidates: readonly string[]): unknown[] {
  const online = nodes.filter((node) => !node.offline).map((node) => node.name)
  const others = recordValues(config.nodegroups)
    .filter((other) => other.uuid !== group.uuid)
    .map((other) => recordValues(config.nodes).filter((node) => node.group === other.uuid && !node.offline))
    .filter((members) => members.length > 0)
  const partners = online.map((name, index) => [
    name,
    others.map((members) => members[index % members.length]?.name).sort(),
  ])
  return [online, Object.fromEntries(partners), candidates]
}

/** `[uuid, name, candidate, may become one, online]`: every node may become one. */
const sshStatus = (config: ConfigData): unknown[] =>
  recordValues(config.nodes).map((node) => [node.uuid, node.name, node.master_candidate, true, !node.offline])

export function bridges({ config, instances }: Scope): string[] {
  const params = [
    config.cluster.nicparams.default,
    ...instances.flatMap((instance) => instance.nics.map((nic) => fillNicParams(config.cluster, nic))),
  ]
  return [...new Set(params.filter((nic) => nic.mode === 'bridged').map((nic) => nic.link))]
}

const oobPrograms = (config: ConfigData): string[] => [
  ...new Set(
    recordValues(config.nodes)
      .map((node) => fillNdParams(config, node).oob_program)
      .filter((program) => program !== ''),
  ),
]

const unlessEmpty = (name: string, list: readonly string[]): Record<string, unknown> =>
  list.length === 0 ? {} : { [name]: list }
