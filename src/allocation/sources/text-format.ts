// The text format of clusters: sections split by empty lines, columns split by `|`. Read and written.
import {
  BadClusterData,
  type ClusterData,
  DEFAULT_POLICY,
  type GroupData,
  type InstanceData,
  NO_NODE,
  type NodeData,
  type Policy,
  type Spec,
} from '../model/cluster-data'
import { allocPolicyOf, statusOf, templateOf } from './values'
import { showDouble } from '../model/numbers'
import { type DiskTemplate, isMirroredInside } from '../../model/templates'

export function parseClusterText(text: string): ClusterData {
  const sections = splitSections(text)
  if (sections.length < 4) {
    throw new BadClusterData(`Invalid format of the input file: ${sections.length} sections instead of 4 or more`)
  }
  const [groupLines = [], nodeLines = [], instanceLines = [], tags = [], policyLines = []] = sections
  const groups = groupLines.map((line) => parseGroup(line.split('|')))
  const groupAt = new Map(groups.map(({ uuid }, at) => [uuid, at]))
  const nodes = nodeLines.map((line) => parseNode(line.split('|'), groupAt))
  const nodeAt = new Map(nodes.map(({ name }, at) => [name, at]))
  const instances = instanceLines.map((line) => parseInstance(line.split('|'), nodeAt))
  return { groups, nodes, instances, tags, policy: parsePolicies(policyLines, groups) }
}

export function clusterText(data: ClusterData): string {
  const section = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('')
  return [
    section(data.groups.map(groupLine)),
    section(data.nodes.map((node) => nodeLine(node, data))),
    section(data.instances.map((instance) => instanceLine(instance, data))),
    section(data.tags),
    section([policyLine('', data.policy), ...data.groups.map(({ name, policy }) => policyLine(name, policy))]),
  ].join('\n')
}

function splitSections(text: string): string[][] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const sections: string[][] = lines.length === 0 ? [] : [[]]
  for (const line of lines) {
    if (line === '') sections.push([])
    else sections.at(-1)?.push(line)
  }
  return sections
}

const commaList = (text: string): string[] => (text === '' ? [] : text.split(','))

function number(owner: string, text: string): number {
  const value = Number(text)
  if (text.trim() === '' || Number.isNaN(value)) {
    throw new BadClusterData(`Can't parse value '${text}' for entity ${owner}`)
  }
  return value
}

function yes(text: string, what: string): boolean {
  if (text === 'Y' || text === 'N') return text === 'Y'
  throw new BadClusterData(`Invalid ${what}: ${text}`)
}

function parseGroup(fields: readonly string[]): GroupData {
  const [name = '', uuid = '', policy = '', tags, networks = ''] = fields
  if (tags === undefined) {
    throw new BadClusterData(`Invalid/incomplete group data: '${JSON.stringify(fields)}'`)
  }
  return {
    name,
    uuid,
    allocPolicy: allocPolicyOf(policy),
    tags: commaList(tags),
    networks: commaList(networks),
    policy: DEFAULT_POLICY,
  }
}

function parseNode(fields: readonly string[], groupAt: ReadonlyMap<string, number>): NodeData {
  const [name = '', tm = '', nm = '', fm = '', td = '', fd = '', tc = '', state = '', uuid] = fields
  if (uuid === undefined) throw new BadClusterData(`Invalid/incomplete node data: '${JSON.stringify(fields)}'`)
  const [spindles = '1', tags = '', exclusive = 'N', freeSpindles = '0', nodeCpus = '1', speed = '1.0'] =
    fields.slice(9)
  const group = groupAt.get(uuid)
  if (group === undefined) throw new BadClusterData(`Unknown group '${uuid}' for node ${name}`)
  const unknown = [tm, nm, fm, td, fd, tc].includes('?')
  const value = (text: string) => (unknown ? 0 : number(name, text))
  return {
    name,
    totalMemory: value(tm),
    nodeMemory: value(nm),
    freeMemory: value(fm),
    totalDisk: value(td),
    freeDisk: value(fd),
    totalCpus: value(tc),
    nodeCpus: value(nodeCpus),
    offline: unknown || state === 'Y',
    master: !unknown && state === 'M',
    group,
    spindles: value(spindles),
    freeSpindles: value(freeSpindles),
    tags: unknown ? [] : commaList(tags),
    exclusiveStorage: !unknown && yes(exclusive, `exclusive_storage value for node '${name}'`),
    cpuSpeed: unknown ? 1 : number(name, speed),
  }
}

function parseInstance(fields: readonly string[], nodeAt: ReadonlyMap<string, number>): InstanceData {
  const [name = '', memory = '', disk = '', vcpus = '', status = '', auto = '', pri = '', sec = '', dt = '', tags] =
    fields
  if (tags === undefined) {
    throw new BadClusterData(`Invalid/incomplete instance data: '${JSON.stringify(fields)}'`)
  }
  const [use = '1', spindles = '-', forthcoming = 'N'] = fields.slice(10)
  const node = (text: string) => {
    const at = nodeAt.get(text)
    if (at === undefined) throw new BadClusterData(`Unknown node '${text}' for instance ${name}`)
    return at
  }
  const template = parseTemplate(dt, `Instance ${name}: `)
  const primary = node(pri)
  const secondary = sec === '' ? NO_NODE : node(sec)
  if (isMirroredInside(template) && primary === secondary) {
    throw new BadClusterData(`Instance ${name} has same primary and secondary node - ${pri}`)
  }
  return {
    name,
    memory: number(name, memory),
    disk: number(name, disk),
    vcpus: number(name, vcpus),
    status: statusOf(status),
    autoBalance: yes(auto, `auto_balance value '${auto}' for instance ${name}`),
    primary,
    secondary,
    template,
    tags: commaList(tags),
    spindleUse: number(name, use),
    spindles: spindles === '-' ? undefined : number(name, spindles),
    forthcoming: yes(forthcoming, `forthcoming value '${forthcoming}' for instance ${name}`),
  }
}

function parseTemplate(text: string, prefix: string): DiskTemplate {
  try {
    return templateOf(text)
  } catch (error) {
    throw error instanceof BadClusterData ? new BadClusterData(prefix + error.message) : error
  }
}

function parsePolicies(lines: readonly string[], groups: readonly GroupData[]): Policy {
  let cluster = DEFAULT_POLICY
  for (const line of lines) {
    const [owner = '', standard = '', minMax = '', templates = '', vcpus = '', spindles] = line.split('|')
    if (spindles === undefined) throw new BadClusterData(`Invalid ipolicy data: '${line}'`)
    const policy: Policy = {
      minMax: parsePairs(owner, minMax === '' ? [] : minMax.split(';')),
      standard: parseSpec(`${owner}/stdspec`, standard),
      templates: commaList(templates).map(templateOf),
      vcpuRatio: number(`${owner}/vcpu_ratio`, vcpus),
      spindleRatio: number(`${owner}/spindle_ratio`, spindles),
    }
    const group = groups.find(({ name }) => name === owner)
    if (owner === '') cluster = policy
    else if (group === undefined) throw new BadClusterData(`Can't find policy owner group ${owner}`)
    else group.policy = policy
  }
  return cluster
}

function parsePairs(owner: string, specs: readonly string[]): Policy['minMax'] {
  if (specs.length % 2 !== 0) throw new BadClusterData(`Odd number of min/max specs for ${owner}`)
  return specs.flatMap((min, at) =>
    at % 2 === 0
      ? [{ min: parseSpec(`${owner}/minspec`, min), max: parseSpec(`${owner}/maxspec`, specs[at + 1] ?? '') }]
      : [],
  )
}

function parseSpec(owner: string, text: string): Spec {
  const values = commaList(text).map((one) => number(owner, one))
  const [memory, cpus, disk, disks, nics, spindles] = values
  if (
    memory === undefined ||
    cpus === undefined ||
    disk === undefined ||
    disks === undefined ||
    nics === undefined ||
    spindles === undefined
  ) {
    throw new BadClusterData(`Invalid ispec data for ${owner}: ${text}`)
  }
  return { memory, cpus, disk, disks, nics, spindles }
}

const groupLine = ({ name, uuid, allocPolicy, tags, networks }: GroupData): string =>
  [name, uuid, allocPolicy, tags.join(','), networks.join(',')].join('|')

function nodeLine(node: NodeData, { groups }: ClusterData): string {
  const state = node.offline ? 'Y' : node.master ? 'M' : 'N'
  return [
    node.name,
    node.totalMemory.toFixed(0),
    node.nodeMemory,
    node.freeMemory,
    node.totalDisk.toFixed(0),
    node.freeDisk,
    node.totalCpus.toFixed(0),
    state,
    groups[node.group]?.uuid,
    node.spindles,
    node.tags.join(','),
    node.exclusiveStorage ? 'Y' : 'N',
    node.freeSpindles,
    node.nodeCpus,
    showDouble(node.cpuSpeed),
  ].join('|')
}

function instanceLine(instance: InstanceData, { nodes }: ClusterData): string {
  return [
    instance.name,
    instance.memory,
    instance.disk,
    instance.vcpus,
    instance.status,
    instance.autoBalance ? 'Y' : 'N',
    nodes[instance.primary]?.name,
    nodes[instance.secondary]?.name ?? '',
    instance.template,
    instance.tags.join(','),
    instance.spindleUse,
    instance.spindles ?? '-',
    instance.forthcoming ? 'Y' : 'N',
  ].join('|')
}

function policyLine(owner: string, policy: Policy): string {
  const spec = (one: Spec) => [one.memory, one.cpus, one.disk, one.disks, one.nics, one.spindles].join(',')
  return [
    owner,
    spec(policy.standard),
    policy.minMax.flatMap(({ min, max }) => [spec(min), spec(max)]).join(';'),
    policy.templates.join(','),
    showDouble(policy.vcpuRatio),
    showDouble(policy.spindleRatio),
  ].join('|')
}
