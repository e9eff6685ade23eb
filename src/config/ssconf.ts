// The ssconf files: a few values of the configuration that every node keeps, one file for each (spec:
// config-schema.json "ssconf").
import type { ConfigData, Node, Params } from '../model/config'
import { HYPERVISORS } from '../model/constants/hypervisors'
import { RELEASE_VERSION } from '../model/constants/versions'
import { niceSort, niceSortBy } from '../model/nice-sort'
import { fillNdParams } from './filled'
import { masterCandidates, masterNode } from './lookup'
import { recordValues } from './records'

/** Each key's lines, for the node call write_ssconf_files. `release` is the version that nodes are told. */
export function ssconfLines(config: ConfigData, release = RELEASE_VERSION): Record<string, string[]> {
  const { cluster } = config
  const nodes = niceSortBy(recordValues(config.nodes), (node) => node.name)
  const candidates = masterCandidates(config)
  return {
    cluster_name: [cluster.cluster_name],
    cluster_tags: [...cluster.tags],
    enabled_user_shutdown: [truth(cluster.enabled_user_shutdown)],
    file_storage_dir: [cluster.file_storage_dir],
    gluster_storage_dir: [cluster.gluster_storage_dir],
    ...Object.fromEntries(HYPERVISORS.map((name) => [`hvparams_${name}`, paramLines(cluster.hvparams[name] ?? {})])),
    hypervisor_list: [...cluster.enabled_hypervisors],
    instance_list: niceSort(recordValues(config.instances).map((instance) => instance.name)),
    maintain_node_health: [truth(cluster.maintain_node_health)],
    master_candidates: candidates.map((node) => node.name),
    master_candidates_certs: Object.entries(cluster.candidate_certs).map(([uuid, digest]) => `${uuid}=${digest}`),
    master_candidates_ips: candidates.map((node) => node.primary_ip),
    master_ip: [cluster.master_ip],
    master_netdev: [cluster.master_netdev],
    master_netmask: [String(cluster.master_netmask)],
    master_node: [masterNode(config)?.name ?? ''],
    networks: uuidAndName(recordValues(config.networks)),
    node_list: nodes.map((node) => node.name),
    node_primary_ips: nodes.map((node) => `${node.name} ${node.primary_ip}`),
    node_secondary_ips: nodes.map((node) => `${node.name} ${node.secondary_ip}`),
    node_vm_capable: nodes.map((node) => `${node.name}=${truth(node.vm_capable)}`),
    nodegroups: uuidAndName(recordValues(config.nodegroups)),
    offline_nodes: names(nodes.filter((node) => node.offline)),
    online_nodes: names(nodes.filter((node) => !node.offline)),
    primary_ip_family: [String(cluster.primary_ip_family)],
    release_version: [release],
    shared_file_storage_dir: [cluster.shared_file_storage_dir],
    ssh_ports: nodes.map((node) => `${node.name}=${fillNdParams(config, node).ssh_port}`),
    uid_pool: cluster.uid_pool.map(([low, high]) => (low === high ? String(low) : `${low}-${high}`)),
  }
}

/** The content of each file. */
export const ssconfValues = (config: ConfigData, release = RELEASE_VERSION): Record<string, string> =>
  Object.fromEntries(Object.entries(ssconfLines(config, release)).map(([key, lines]) => [key, ssconfText(lines)]))

/** Lines as a file's text; empty without lines. */
const ssconfText = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')

const truth = (value: boolean): string => (value ? 'True' : 'False')
const names = (nodes: readonly Node[]): string[] => nodes.map((node) => node.name)

const paramLines = (params: Params): string[] =>
  Object.entries(params).map(([name, value]) => `${name}=${typeof value === 'boolean' ? truth(value) : (value ?? '')}`)

const uuidAndName = (objects: readonly { uuid: string; name: string }[]): string[] =>
  niceSortBy(objects, (object) => object.name).map((object) => `${object.uuid} ${object.name}`)
