// The verbs of objects in /3. Each submits one opcode, whose parameters come from the address and the body. Routes, the
// document and the contract tests all follow from this table.
import { OpBackupExport, OpBackupPrepare, OpBackupRemove } from '../../../opcodes/backup'
import { type JsonObject, isObject } from '../../../lib/shapes/shape'
import * as cluster from '../../../opcodes/cluster'
import * as group from '../../../opcodes/group'
import type { OpcodeDefinition, ParsedOpCode } from '../../../opcodes/index'
import * as instance from '../../../opcodes/instance'
import * as network from '../../../opcodes/network'
import * as node from '../../../opcodes/node'
import { OpInstanceRepair } from '../../../opcodes/repair'
import * as snapshot from '../../../opcodes/snapshot'
import { OpTagsDel, OpTagsSet } from '../../../opcodes/tags'
import type { TagKind } from '../../../model/object-kinds'
import { VALUE } from '../../../model/constants/words'
import { badRequest } from '../../../http/errors'
import { readParameters } from './job-request'

/** The variable parts of an address. */
export type Parts = Readonly<Record<string, string | number | null>>

export interface ObjectVerb {
  readonly verb: string
  /** `/3/instances/{name}/disks/{index}/grow` */
  readonly path: string
  readonly opcode: OpcodeDefinition
  /** Turns the parts of the address into parameters of the opcode. */
  readonly address: (parts: Parts) => JsonObject
  /** Values for parameters that the body omits. */
  readonly preset: JsonObject
  /** What null stands for in a change, by parameter: its opcode takes null for a value that was not given. */
  readonly cleared: JsonObject
}

interface Entry extends Partial<Pick<ObjectVerb, 'address' | 'preset' | 'cleared'>> {
  readonly opcode: OpcodeDefinition
}

interface Resource {
  /** The parameter for `{name}`. */
  readonly name: string
  /** The resource's kind in opcodes for tags; null if it has no tags. */
  readonly tags: TagKind | null
  /** By method and the path after the resource's name. */
  readonly verbs: Readonly<Record<string, OpcodeDefinition | Entry>>
}

const RESOURCES: Readonly<Record<string, Resource>> = {
  instances: {
    name: 'instance_name',
    tags: 'instance',
    verbs: {
      'POST /': { opcode: instance.OpInstanceCreate, preset: { mode: 'create' } },
      'POST /{name}/commit': {
        opcode: instance.OpInstanceCreate,
        // The opcode decides about the NICs.
        preset: { mode: 'create', disks: [], nics: [{}] },
        address: ({ name }) => ({ instance_name: name, commit: true, forthcoming: false }),
      },
      'PATCH /{name}': instance.OpInstanceSetParams,
      'DELETE /{name}': instance.OpInstanceRemove,
      'POST /{name}/startup': instance.OpInstanceStartup,
      'POST /{name}/shutdown': instance.OpInstanceShutdown,
      'POST /{name}/reboot': { opcode: instance.OpInstanceReboot, preset: { reboot_type: 'hard' } },
      'POST /{name}/reinstall': instance.OpInstanceReinstall,
      'POST /{name}/rename': instance.OpInstanceRename,
      'POST /{name}/migrate': instance.OpInstanceMigrate,
      'POST /{name}/failover': instance.OpInstanceFailover,
      'POST /{name}/move': instance.OpInstanceMove,
      'POST /{name}/change-group': instance.OpInstanceChangeGroup,
      'POST /{name}/console': instance.OpInstanceConsole,
      'POST /{name}/disks/activate': instance.OpInstanceActivateDisks,
      'POST /{name}/disks/deactivate': instance.OpInstanceDeactivateDisks,
      'POST /{name}/disks/recreate': instance.OpInstanceRecreateDisks,
      'POST /{name}/disks/replace': instance.OpInstanceReplaceDisks,
      'POST /{name}/disks/{index}/grow': {
        opcode: instance.OpInstanceGrowDisk,
        address: ({ name, index }) => ({ instance_name: name, disk: index }),
      },
      'POST /{name}/repair': OpInstanceRepair,
      'POST /{name}/snapshots': snapshot.OpInstanceSnapshot,
      'POST /{name}/disks/{index}/snapshots/{snapshot}/rollback': {
        opcode: snapshot.OpInstanceRollbackSnapshot,
        address: ({ name, index, snapshot: named }) => ({
          instance_name: name,
          disks: [[index, { snapshot_name: named }]],
        }),
      },
      'DELETE /{name}/disks/{index}/snapshots/{snapshot}': {
        opcode: snapshot.OpInstanceRemoveSnapshot,
        address: ({ name, index, snapshot: named }) => ({
          instance_name: name,
          disks: [[index, { snapshot_name: named }]],
        }),
      },
      'POST /{name}/export': OpBackupExport,
      'POST /{name}/export/prepare': { opcode: OpBackupPrepare, preset: { mode: 'local' } },
      'DELETE /{name}/export': OpBackupRemove,
    },
  },
  'instances-multi-alloc': {
    name: '',
    tags: null,
    verbs: { 'POST /': instance.OpInstanceMultiAlloc },
  },
  nodes: {
    name: 'node_name',
    tags: 'node',
    verbs: {
      'POST /': node.OpNodeAdd,
      'PATCH /{name}': node.OpNodeSetParams,
      'DELETE /{name}': node.OpNodeRemove,
      'POST /{name}/evacuate': node.OpNodeEvacuate,
      'POST /{name}/migrate': node.OpNodeMigrate,
      'POST /{name}/powercycle': node.OpNodePowercycle,
      'POST /{name}/oob': { opcode: node.OpOobCommand, address: ({ name }) => ({ node_names: [name] }) },
      'POST /{name}/command': { opcode: node.OpRestrictedCommand, address: ({ name }) => ({ nodes: [name] }) },
      'PATCH /{name}/storage/{storage_type}': { opcode: node.OpNodeModifyStorage, address: storageOf },
      'POST /{name}/storage/{storage_type}/repair': { opcode: node.OpRepairNodeStorage, address: storageOf },
    },
  },
  groups: {
    name: 'group_name',
    tags: 'nodegroup',
    verbs: {
      'POST /': group.OpGroupAdd,
      'PATCH /{name}': group.OpGroupSetParams,
      'DELETE /{name}': group.OpGroupRemove,
      'POST /{name}/rename': group.OpGroupRename,
      'POST /{name}/assign-nodes': group.OpGroupAssignNodes,
      'POST /{name}/evacuate': group.OpGroupEvacuate,
      'POST /{name}/verify': cluster.OpClusterVerifyGroup,
      'POST /{name}/verify-disks': group.OpGroupVerifyDisks,
    },
  },
  networks: {
    name: 'network_name',
    tags: 'network',
    verbs: {
      'POST /': network.OpNetworkAdd,
      'PATCH /{name}': {
        opcode: network.OpNetworkSetParams,
        cleared: Object.fromEntries(
          ['gateway', 'network6', 'gateway6', 'mac_prefix'].map((name) => [name, VALUE.none]),
        ),
      },
      'DELETE /{name}': network.OpNetworkRemove,
      'POST /{name}/rename': network.OpNetworkRename,
      'POST /{name}/connect': network.OpNetworkConnect,
      'POST /{name}/disconnect': network.OpNetworkDisconnect,
    },
  },
  // Destroying the cluster is only possible as a job, so that a mistyped address cannot do it.
  cluster: {
    name: '',
    tags: 'cluster',
    verbs: {
      'PATCH /': cluster.OpClusterSetParams,
      'POST /rename': cluster.OpClusterRename,
      'POST /verify': cluster.OpClusterVerify,
      'POST /verify-config': cluster.OpClusterVerifyConfig,
      'POST /verify-disks': cluster.OpClusterVerifyDisks,
      'POST /repair-disk-sizes': cluster.OpClusterRepairDiskSizes,
      'POST /redistribute-config': cluster.OpClusterRedistConf,
      'POST /renew-crypto': cluster.OpClusterRenewCrypto,
      'POST /master-ip/activate': cluster.OpClusterActivateMasterIp,
      'POST /master-ip/deactivate': cluster.OpClusterDeactivateMasterIp,
    },
  },
}

function storageOf({ name, storage_type }: Parts): JsonObject {
  return { node_name: name, storage_type }
}

export const objectVerbs: readonly ObjectVerb[] = Object.entries(RESOURCES).flatMap(
  ([resource, { name, tags, verbs }]) =>
    Object.entries({ ...verbs, ...(tags === null ? {} : tagVerbs(tags)) }).map(([request, entry]): ObjectVerb => {
      const [method = '', rest = ''] = request.split(' ')
      const input: Entry = 'opcode' in entry ? entry : { opcode: entry }
      return {
        address: (parts) => (parts['name'] === undefined ? {} : { [name]: parts['name'] }),
        preset: {},
        cleared: {},
        ...input,
        ...{ verb: method.toLowerCase(), path: `/3/${resource}${rest === '/' ? '' : rest}` },
      }
    }),
)

function tagVerbs(kind: TagKind): Record<string, Entry> {
  const object = kind === 'cluster' ? '' : '/{name}'
  const named = ({ name = null }: Parts) => ({ kind, name })
  return {
    [`POST ${object}/tags`]: { opcode: OpTagsSet, address: named },
    [`DELETE ${object}/tags/{tag}`]: {
      opcode: OpTagsDel,
      address: (parts) => ({ ...named(parts), tags: [parts['tag']] }),
    },
  }
}

/** The variable parts of an address, in their order. */
export const partsOf = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)

/** Parameters that a body may not have, because the address sets them. A body may not name another object by its uuid either. */
export function saidByAddress({ path, opcode, address }: ObjectVerb): string[] {
  const said = Object.keys(address(Object.fromEntries(partsOf(path).map((name) => [name, name]))))
  const uuids = said.map((name) =>
    name
      .replace(/_names$/, '_uuids')
      .replace(/_name$/, '_uuid')
      .replace(/^nodes$/, 'node_uuids'),
  )
  return [...new Set([...said, ...uuids])].filter((name) => Object.hasOwn(opcode.params, name))
}

export function opcodeOf(entry: ObjectVerb, parts: Parts, body: unknown): ParsedOpCode {
  const input = body ?? {}
  if (!isObject(input)) throw badRequest('The body must be an object with the parameters of the request')
  const twice = saidByAddress(entry).find((name) => Object.hasOwn(input, name))
  if (Object.hasOwn(input, 'reason')) throw badRequest('reason: is a query argument of the request')
  if (twice !== undefined)
    throw badRequest(`${twice}: the address of the request already sets it, so leave it out of the body`)
  return readParameters(entry.opcode, { ...entry.preset, ...withoutNulls(entry, input), ...entry.address(parts) })
}

/** A change with null would do nothing, and answer as if it had. */
function withoutNulls({ verb, cleared }: ObjectVerb, input: JsonObject): JsonObject {
  if (verb !== 'patch') return input
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => {
      if (value !== null) return [name, value]
      if (Object.hasOwn(cleared, name)) return [name, cleared[name]]
      throw badRequest(`${name}: null is no value of it; leave it out, and it stays as it is`)
    }),
  )
}
