// Finds mistakes in a configuration, as sentences: dangling references, conflicts between two objects, impossible
// states.
import { isIPv6 } from 'node:net'
import type { ConfigData, Disk, Instance, Network, Node } from '../model/config'
import { HYPERVISORS } from '../model/constants/hypervisors'
import { LAST_DRBD_PORT } from '../model/constants/disks'
import { VALUE } from '../model/constants/words'
import { addressMap, isInNetwork, isReserved, rangeOf } from './addresses'
import { drbdId, instanceDisks, logicalVolumes, masterCandidates, waitingCertificate } from './lookup'
import { recordValues } from './records'
import { isDrbd } from '../model/templates'

export function verifyConfig(config: ConfigData): string[] {
  return [
    ...clusterProblems(config),
    ...nodeProblems(config),
    ...groupProblems(config),
    ...recordValues(config.instances).flatMap((instance) => instanceProblems(config, instance)),
    ...diskProblems(config),
    ...networkProblems(config),
    ...claimProblems(config),
  ]
}

function clusterProblems({ cluster, nodes }: ConfigData): string[] {
  const problems: string[] = []
  if (cluster.enabled_hypervisors.length === 0) problems.push('no hypervisor is enabled')
  for (const name of cluster.enabled_hypervisors) {
    if (!HYPERVISORS.includes(name)) problems.push(`the enabled hypervisor ${name} does not exist`)
    if (!cluster.hvparams[name]) problems.push(`hypervisor parameters of the enabled hypervisor ${name} are missing`)
  }
  if (cluster.enabled_disk_templates.length === 0) problems.push('no disk template is enabled')
  const master = nodes[cluster.master_node]
  if (!master) problems.push(`the master node ${cluster.master_node} does not exist`)
  else {
    if (!master.master_candidate) problems.push(`the master node ${master.name} is not a master candidate`)
    if (master.offline) problems.push(`the master node ${master.name} is offline`)
  }
  if (cluster.highest_used_port > LAST_DRBD_PORT && cluster.tcpudp_port_pool.length === 0)
    problems.push(`no port is left: the highest used one is ${cluster.highest_used_port}`)
  for (const uuid of Object.keys(cluster.candidate_certs))
    if (uuid === waitingCertificate(cluster.master_node))
      problems.push(
        "a renewal of the master's client certificate was interrupted; go on with 'gnt-cluster renew-crypto --new-node-certificates'",
      )
    else if (!nodes[uuid]) problems.push(`the candidate certificates name the unknown node ${uuid}`)
  const { minmem, maxmem } = cluster.beparams.default
  if (minmem > maxmem) problems.push(`the cluster's minimum memory ${minmem} is above its maximum ${maxmem}`)
  return problems
}

function nodeProblems(config: ConfigData): string[] {
  const nodes = recordValues(config.nodes)
  const problems = nodes.flatMap((node) => [
    ...(config.nodegroups[node.group] ? [] : [`node ${node.name} is in the unknown group ${node.group}`]),
    ...stateProblems(node),
  ])
  const candidates = masterCandidates(config).length
  const able = nodes.filter((node) => node.master_capable && !node.offline && !node.drained)
  const desired = Math.min(config.cluster.candidate_pool_size, able.length)
  const [next] = able.filter((node) => !node.master_candidate)
  if (candidates < desired && next !== undefined)
    problems.push(
      `there are ${candidates} master candidates, and there should be ${desired}: ` +
        `'gnt-node modify --master-candidate=yes ${next.name}' makes one more`,
    )
  return problems
}

function stateProblems(node: Node): string[] {
  const states = [
    node.master_candidate && 'master candidate',
    node.offline && 'offline',
    node.drained && 'drained',
  ].filter((state) => state !== false)
  return [
    ...(states.length > 1 ? [`node ${node.name} is ${states.join(' and ')} at the same time`] : []),
    ...(node.master_candidate && !node.master_capable
      ? [
          `node ${node.name} is a master candidate, but must not become master: ` +
            `'gnt-node modify --master-candidate=no ${node.name}' ends that`,
        ]
      : []),
  ]
}

function groupProblems(config: ConfigData): string[] {
  const groups = recordValues(config.nodegroups)
  const problems = groups.flatMap((group) =>
    Object.keys(group.networks)
      .filter((uuid) => !config.networks[uuid])
      .map((uuid) => `node group ${group.name} is connected to the unknown network ${uuid}`),
  )
  return groups.length === 0 ? [...problems, 'there is no node group'] : problems
}

function instanceProblems(config: ConfigData, instance: Instance): string[] {
  if (instance.forthcoming) return []
  const { name } = instance
  const problems: string[] = []
  if (!config.nodes[instance.primary_node])
    problems.push(`instance ${name}: its primary node ${instance.primary_node} is unknown`)
  if (!config.cluster.enabled_hypervisors.includes(instance.hypervisor))
    problems.push(`instance ${name}: its hypervisor ${instance.hypervisor} is not enabled`)
  instance.disks.forEach((uuid, index) => {
    const disk = config.disks[uuid]
    if (!disk) problems.push(`instance ${name}: disk ${index} (${uuid}) does not exist`)
    else if (disk.iv_name !== `disk/${index}`)
      problems.push(`instance ${name}: disk ${index} is called ${disk.iv_name === '' ? 'nothing' : disk.iv_name}`)
  })
  instance.nics.forEach((nic, index) => {
    if (nic.network && !config.networks[nic.network])
      problems.push(`instance ${name}: NIC ${index} is in the unknown network ${nic.network}`)
    if (nic.mac === VALUE.auto || nic.mac === VALUE.generate)
      problems.push(`instance ${name}: NIC ${index} has no MAC address`)
    const network = nic.network ? config.networks[nic.network] : undefined
    if (network && nic.ip && !isHeld(network, nic.ip))
      problems.push(
        `instance ${name}: the address ${nic.ip} of NIC ${index} is not reserved in network ${network.name}`,
      )
  })
  const { minmem = 0, maxmem = Infinity } = instance.beparams
  if (minmem > maxmem) problems.push(`instance ${name}: its minimum memory ${minmem} is above its maximum ${maxmem}`)
  return problems
}

/** IPv6 networks have no map of reserved addresses. */
const isHeld = (network: Network, ip: string): boolean =>
  isIPv6(ip) ? isInNetwork(network, ip) : isReserved(network, ip, { external: true })

function diskProblems(config: ConfigData): string[] {
  return recordValues(config.disks).flatMap((disk) => [
    ...(isDrbd(disk.dev_type) && disk.children.length !== 2
      ? [`disk ${disk.uuid}: a DRBD disk has two component disks, not ${disk.children.length}`]
      : []),
    ...unknownNodes(config, disk).map((uuid) => `disk ${disk.uuid}: it is on the unknown node ${uuid}`),
  ])
}

function unknownNodes(config: ConfigData, disk: Disk): string[] {
  const drbd = drbdId(disk)
  const nodes: readonly string[] = drbd ? [drbd.nodeA, drbd.nodeB] : disk.nodes
  return [...new Set(nodes)].filter((uuid) => !config.nodes[uuid])
}

function networkProblems(config: ConfigData): string[] {
  return recordValues(config.networks).flatMap((network) => {
    const { size } = rangeOf(network)
    const maps = ['reservations', 'ext_reservations'] as const
    return maps
      .filter((map) => addressMap(network, map).length !== size)
      .map((map) => `network ${network.name}: ${map} has not one digit for each of its ${size} addresses`)
  })
}

/**
 * Finds values that several objects have but only one may: names, addresses, MACs, ports, minors, volumes, disks,
 * uuids.
 */
function claimProblems(config: ConfigData): string[] {
  const claims = new Claims()
  for (const node of recordValues(config.nodes)) {
    claims.add('the name', node.name, `node ${node.name}`)
    claims.add('the address', node.primary_ip, `node ${node.name}`)
    if (node.secondary_ip !== node.primary_ip) claims.add('the address', node.secondary_ip, `node ${node.name}`)
  }
  claims.add('the address', config.cluster.master_ip, 'the cluster')
  for (const group of recordValues(config.nodegroups))
    claims.add('the group name', group.name, `node group ${group.uuid}`)
  for (const network of recordValues(config.networks))
    claims.add('the network name', network.name, `network ${network.uuid}`)
  for (const instance of recordValues(config.instances)) claimInstance(claims, config, instance)
  for (const port of config.cluster.tcpudp_port_pool) claims.add('port', String(port), 'the pool of free ports')
  for (const kind of ['nodes', 'nodegroups', 'instances', 'networks', 'disks', 'filters'] as const)
    for (const uuid of Object.keys(config[kind])) claims.add('the uuid', uuid, `an entry of ${kind}`)
  return claims.conflicts
}

function claimInstance(claims: Claims, config: ConfigData, instance: Instance): void {
  const owner = `instance ${instance.name}`
  claims.add('the name', instance.name, owner)
  if (instance.network_port !== undefined) claims.add('port', String(instance.network_port), owner)
  instance.nics.forEach((nic, index) => {
    claims.add('MAC address', nic.mac, `${owner} (NIC ${index})`)
    if (nic.ip && nic.network) claims.add(`the address in network ${nic.network}`, nic.ip, `${owner} (NIC ${index})`)
  })
  for (const uuid of instance.disks) claims.add('disk', uuid, owner)
  for (const disk of instanceDisks(config, instance)) {
    for (const [vg, lv] of logicalVolumes(disk))
      for (const node of disk.nodes) claims.add(`volume on node ${node}`, `${vg}/${lv}`, owner)
    const drbd = drbdId(disk)
    if (!drbd) continue
    claims.add('port', String(drbd.port), owner)
    claims.add(`DRBD minor on node ${drbd.nodeA}`, String(drbd.minorA), owner)
    claims.add(`DRBD minor on node ${drbd.nodeB}`, String(drbd.minorB), owner)
  }
}

class Claims {
  readonly conflicts: string[] = []
  private readonly owners = new Map<string, string>()

  add(what: string, value: string, owner: string): void {
    const key = `${what} ${value}`
    const other = this.owners.get(key)
    if (other === undefined) this.owners.set(key, owner)
    else this.conflicts.push(`${key} belongs to both ${other} and ${owner}`)
  }
}
