// Query fields of nodes.
import { NODE_ROLE } from '../../model/constants/words'
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
  heardCell,
  stampFields,
  tagsField,
  TEXTS,
  PARAMETERS,
} from '../field'
import type { Resource } from '../resource'
import type { Heard, Unseen } from '../source'
import { nodeParamFields } from './node-params'

interface NodeRow {
  readonly node: Node
  readonly index: ConfigIndex
  readonly heard: Heard | undefined
  readonly unseen: Unseen | undefined
  live?: NodeResult<NodeInfo>
}

const config: FieldTable<NodeRow> = {
  ...stampFields('Node', ({ node }) => node),
  ...tagsField(({ node }) => node.tags),
  ...nodeParamFields(({ node, index }) => index.ndParams(node)),
  custom_ndparams: field('CustomNodeParameters', 'other', 'Custom node parameters', ({ node }) => cell(node.ndparams), {
    shape: PARAMETERS,
  }),
  disk_state: field('DiskState', 'other', 'Disk state', () => UNAVAILABLE, { shape: PARAMETERS }),
  drained: field('Drained', 'bool', 'Whether node is drained', ({ node }) => cell(node.drained)),
  group: field('Group', 'text', 'Node group', ({ node, index }) => cell(index.groupName(node.group))),
  'group.uuid': field('GroupUUID', 'text', 'UUID of node group', ({ node }) => cell(node.group)),
  hv_state: field('HypervisorState', 'other', 'Hypervisor state', () => UNAVAILABLE, { shape: PARAMETERS }),
  master: field('IsMaster', 'bool', 'Whether node is master', (row) => cell(isMaster(row))),
  master_candidate: field('MasterC', 'bool', 'Whether node is a master candidate', ({ node }) =>
    cell(node.master_candidate),
  ),
  master_capable: field('MasterCapable', 'bool', 'Whether node can become a master candidate', ({ node }) =>
    cell(node.master_capable),
  ),
  name: field('Node', 'text', 'Node name', ({ node }) => cell(node.name), { compare: 'host' }),
  ndparams: field(
    'NodeParameters',
    'other',
    'Merged node parameters',
    ({ node, index }) => cell(index.ndParams(node)),
    { shape: PARAMETERS },
  ),
  offline: field('Offline', 'bool', 'Whether node is marked offline', ({ node }) => cell(node.offline)),
  pinst_cnt: field('Pinst', 'number', 'Number of instances with this node as primary', ({ node, index }) =>
    cell(index.primaryInstances(node.uuid).length),
  ),
  pinst_list: field(
    'PriInstances',
    'other',
    'List of instances with this node as primary',
    ({ node, index }) => cell(index.primaryInstances(node.uuid).map(({ name }) => name)),
    { shape: TEXTS },
  ),
  pip: field('PrimaryIP', 'text', 'Primary IP address', ({ node }) => cell(node.primary_ip)),
  powered: field('Powered', 'bool', 'Whether node is thought to be powered on', ({ node, index }) =>
    index.ndParams(node).oob_program === '' ? UNAVAILABLE : cell(node.powered),
  ),
  role: field(
    'Role',
    'text',
    'Node role; "M" for master, "C" for master candidate, "R" for regular, "D" for drained, "O" for offline',
    ({ node, index }) => cell(NODE_ROLE[index.roleOf(node)]),
  ),
  sinst_cnt: field('Sinst', 'number', 'Number of instances with this node as secondary', ({ node, index }) =>
    cell(index.secondaryInstances(node.uuid).length),
  ),
  sinst_list: field(
    'SecInstances',
    'other',
    'List of instances with this node as secondary',
    ({ node, index }) => cell(index.secondaryInstances(node.uuid).map(({ name }) => name)),
    { shape: TEXTS },
  ),
  sip: field('SecondaryIP', 'text', 'Secondary IP address', ({ node }) => cell(node.secondary_ip)),
  vm_capable: field('VMCapable', 'bool', 'Whether node can host instances', ({ node }) => cell(node.vm_capable)),
}

const live: FieldTable<NodeRow> = {
  bootid: ofNode(
    'BootID',
    'text',
    'Random UUID renewed for each system reboot, can be used for detecting reboots by tracking changes',
    ([bootid]) => bootid,
  ),
  cnodes: ofHypervisor(
    'CNodes',
    'number',
    'Number of NUMA domains on node (if exported by hypervisor)',
    (info) => info.cpu_nodes,
  ),
  cnos: ofHypervisor(
    'CNOs',
    'number',
    'Number of logical processors used by the node OS (dom0 for Xen)',
    (info) => info.cpu_dom0,
  ),
  csockets: ofHypervisor(
    'CSockets',
    'number',
    'Number of physical CPU sockets (if exported by hypervisor)',
    (info) => info.cpu_sockets,
  ),
  ctotal: ofHypervisor('CTotal', 'number', 'Number of logical processors', (info) => info.cpu_total),
  dfree: ofStorage('DFree', 'unit', 'Available storage space on storage unit', 0, (unit) => unit.storage_free),
  dtotal: ofStorage(
    'DTotal',
    'unit',
    'Total storage space on storage unit for instance disk allocation',
    0,
    (unit) => unit.storage_size,
  ),
  mfree: ofHypervisor('MFree', 'unit', 'Memory available for instance allocations', (info) => info.memory_free),
  mnode: ofHypervisor('MNode', 'unit', 'Amount of memory used by node (dom0 for Xen)', (info) => info.memory_dom0),
  mtotal: ofHypervisor('MTotal', 'unit', 'Total amount of memory of physical machine', (info) => info.memory_total),
  spfree: ofStorage(
    'SpFree',
    'number',
    'Available spindles in volume group (exclusive storage only)',
    1,
    (unit) => unit.storage_free,
  ),
  sptotal: ofStorage(
    'SpTotal',
    'number',
    'Total spindles in volume group (exclusive storage only)',
    1,
    (unit) => unit.storage_size,
  ),
}

export const nodeResource: Resource<NodeRow> = {
  nameField: 'name',
  fields: {
    ...config,
    ...live,
    seen: field(
      'Seen',
      'timestamp',
      'When the node last reported on itself and on its instances: the age of the older of both. Null as long as one is missing',
      ({ node, heard: received }) => heardCell(received?.seen_ms(node.uuid)),
      { ours: true },
    ),
    pinst_hidden: field(
      'PriHidden',
      'bool',
      'Whether instances outside of the scope of the token have the node as primary',
      ({ node, unseen }) => cell(unseen?.primary(node.uuid) ?? false),
      { ours: true },
    ),
    sinst_hidden: field(
      'SecHidden',
      'bool',
      'Whether instances outside of the scope of the token have the node as secondary',
      ({ node, unseen }) => cell(unseen?.secondary(node.uuid) ?? false),
      { ours: true },
    ),
  },
  all({ config, heard: received, unseen }) {
    const index = ConfigIndex.of(config)
    return index.nodes().map((node) => ({ node, index, heard: received, unseen }))
  },
  find({ config, heard: received, unseen }, name) {
    const index = ConfigIndex.of(config)
    const node = index.findNode(name)
    return node && { node, index, heard: received, unseen }
  },
  notFound: (name) => new OpPrereqError(`Node name ${name} not found`, ECODE.NOENT),
  async collect(rows, source) {
    const requested = rows.filter(({ node }) => node.vm_capable).map(({ node }) => node)
    const answers = await source.live.nodeInfo(source.config, requested)
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
    const first = hypervisors?.[0]
    return first && get(first)
  })
}

function ofStorage(title: string, kind: FieldKind, doc: string, unit: 0 | 1, get: (info: StorageInfo) => unknown) {
  return ofNode(title, kind, doc, ([, storage]) => {
    const requested = storage?.[unit]
    return requested && get(requested)
  })
}

const isMaster = ({ node, index }: NodeRow): boolean => index.roleOf(node) === 'master'
