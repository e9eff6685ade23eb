import { ECODE, OpPrereqError } from '../../model/errors'
import type { Node } from '../../model/node'
import type { NodeResult } from '../../rpc/node/client'
import type { HypervisorInfo, NodeInfo, StorageInfo } from '../../rpc/node/dicts'
import type { Cell } from '../../rpc/luxi/calls'
import { ConfigIndex } from '../config-index'
import {
  type Field,
  type FieldKind,
  type FieldTable,
  NO_DATA,
  OFFLINE,
  UNAVAILABLE,
  cell,
  field,
  stampFields,
  tagsField,
} from '../field'
import type { Resource } from '../resource'
import { nodeParamFields } from './node-params'

interface NodeRow {
  readonly node: Node
  readonly index: ConfigIndex
  live?: NodeResult<NodeInfo>
}

const config: FieldTable<NodeRow> = {
  ...stampFields(({ node }) => node),
  ...tagsField(({ node }) => node.tags),
  ...nodeParamFields(({ node, index }) => index.ndParams(node)),
  custom_ndparams: field('CustomNodeParameters', 'other', 'node parameters set on the node itself', ({ node }) =>
    cell(node.ndparams),
  ),
  disk_state: field('DiskState', 'other', 'always unavailable', () => UNAVAILABLE),
  drained: field('Drained', 'bool', 'drained flag', ({ node }) => cell(node.drained)),
  group: field('Group', 'text', 'group name', ({ node, index }) => cell(index.groupName(node.group))),
  'group.uuid': field('GroupUUID', 'text', 'group UUID', ({ node }) => cell(node.group)),
  hv_state: field('HypervisorState', 'other', 'always unavailable', () => UNAVAILABLE),
  master: field('IsMaster', 'bool', 'is the current master', (row) => cell(isMaster(row))),
  master_candidate: field('MasterC', 'bool', 'candidate flag', ({ node }) => cell(node.master_candidate)),
  master_capable: field('MasterCapable', 'bool', 'may become master', ({ node }) => cell(node.master_capable)),
  name: field('Node', 'text', 'name', ({ node }) => cell(node.name), { compare: 'host' }),
  ndparams: field('NodeParameters', 'other', 'node parameters after defaults', ({ node, index }) =>
    cell(index.ndParams(node)),
  ),
  offline: field('Offline', 'bool', 'offline flag', ({ node }) => cell(node.offline)),
  pinst_cnt: field('Pinst', 'number', 'count of primary instances', ({ node, index }) =>
    cell(index.primaryInstances(node.uuid).length),
  ),
  pinst_list: field('PriInstances', 'other', 'primary instance names, nice-sorted', ({ node, index }) =>
    cell(index.primaryInstances(node.uuid).map(({ name }) => name)),
  ),
  pip: field('PrimaryIP', 'text', 'primary IP', ({ node }) => cell(node.primary_ip)),
  powered: field('Powered', 'bool', 'recorded power state; unavailable without oob_program', ({ node, index }) =>
    index.ndParams(node).oob_program === '' ? UNAVAILABLE : cell(node.powered),
  ),
  role: field('Role', 'text', 'M master, C candidate, R regular, D drained, O offline', (row) => cell(role(row))),
  sinst_cnt: field('Sinst', 'number', 'count of secondary instances', ({ node, index }) =>
    cell(index.secondaryInstances(node.uuid).length),
  ),
  sinst_list: field('SecInstances', 'other', 'secondary instance names, nice-sorted', ({ node, index }) =>
    cell(index.secondaryInstances(node.uuid).map(({ name }) => name)),
  ),
  sip: field('SecondaryIP', 'text', 'secondary IP', ({ node }) => cell(node.secondary_ip)),
  vm_capable: field('VMCapable', 'bool', 'may run instances', ({ node }) => cell(node.vm_capable)),
}

const live: FieldTable<NodeRow> = {
  bootid: ofNode('BootID', 'text', 'kernel boot id', ([bootid]) => bootid),
  cnodes: ofHypervisor('CNodes', 'number', 'NUMA domains', (info) => info.cpu_nodes),
  cnos: ofHypervisor('CNOs', 'number', 'CPUs reserved for the host OS', (info) => info.cpu_dom0),
  csockets: ofHypervisor('CSockets', 'number', 'CPU sockets', (info) => info.cpu_sockets),
  ctotal: ofHypervisor('CTotal', 'number', 'CPU threads', (info) => info.cpu_total),
  dfree: ofStorage('DFree', 'unit', 'free space on the default storage unit, MiB', 0, (unit) => unit.storage_free),
  dtotal: ofStorage('DTotal', 'unit', 'size of the default storage unit, MiB', 0, (unit) => unit.storage_size),
  mfree: ofHypervisor('MFree', 'unit', 'free memory, MiB', (info) => info.memory_free),
  mnode: ofHypervisor('MNode', 'unit', 'memory held by the host OS, MiB', (info) => info.memory_dom0),
  mtotal: ofHypervisor('MTotal', 'unit', 'physical memory, MiB', (info) => info.memory_total),
  spfree: ofStorage('SpFree', 'number', 'free spindles (exclusive storage)', 1, (unit) => unit.storage_free),
  sptotal: ofStorage('SpTotal', 'number', 'all spindles (exclusive storage)', 1, (unit) => unit.storage_size),
}

export const nodeResource: Resource<NodeRow> = {
  nameField: 'name',
  fields: { ...config, ...live },
  all({ config }) {
    const index = ConfigIndex.of(config)
    return index.nodes().map((node) => ({ node, index }))
  },
  find({ config }, name) {
    const index = ConfigIndex.of(config)
    const node = index.findNode(name)
    return node && { node, index }
  },
  notFound: (name) => new OpPrereqError(`Node name ${name} not found`, ECODE.NOENT),
  async collect(rows, source) {
    const asked = rows.filter(({ node }) => node.vm_capable).map(({ node }) => node)
    const answers = await source.live.nodeInfo(source.config, asked)
    for (const row of rows) row.live = answers.get(row.node.uuid)
  },
}

function ofNode(title: string, kind: FieldKind, doc: string, get: (info: NodeInfo) => unknown): Field<NodeRow> {
  return field(title, kind, doc, ({ node, live }) => liveCell(node, live, get), { needs: 'live' })
}

function liveCell(node: Node, live: NodeResult<NodeInfo> | undefined, get: (info: NodeInfo) => unknown): Cell {
  if (node.offline) return OFFLINE
  if (!node.vm_capable) return UNAVAILABLE
  if (live?.ok !== true) return NO_DATA
  const value = get(live.payload)
  return value === undefined || value === null ? NO_DATA : cell(value)
}

function ofHypervisor(title: string, kind: FieldKind, doc: string, get: (info: HypervisorInfo) => unknown) {
  return ofNode(title, kind, doc, ([, , hypervisors]) => {
    const [first] = hypervisors
    return first && get(first)
  })
}

function ofStorage(title: string, kind: FieldKind, doc: string, unit: 0 | 1, get: (info: StorageInfo) => unknown) {
  return ofNode(title, kind, doc, ([, storage]) => {
    const asked = storage[unit]
    return asked && get(asked)
  })
}

const isMaster = ({ node, index }: NodeRow): boolean => index.config.cluster.master_node === node.uuid

function role(row: NodeRow): string {
  if (isMaster(row)) return 'M'
  if (row.node.master_candidate) return 'C'
  if (row.node.drained) return 'D'
  return row.node.offline ? 'O' : 'R'
}
