// Who may do and see what through /3. A caller has its user's permissions; with a token, no more than the token has, and only
// objects in the token's scope. Pure: the token is looked up by whoever asks.
import { posix } from 'node:path'
import { findGroup, findInstance, findNetwork, findNode } from '../config/lookup'
import type { ConfigData, Instance, Node } from '../model/config'
import { OpPrereqError, REFUSED } from '../model/errors'
import { allows } from '../model/permissions'
import { isObject } from '../opcodes/check'
import { allOpcodes } from '../opcodes/index'
import { permissionOf } from '../opcodes/permission'
import type { WireOpCode } from '../rpc/luxi/calls'
import type { Identity, TokenScope } from '../rpc/luxi/gantry'

export class Access {
  constructor(
    readonly identity: Identity,
    /** Of the token; null for a user with a password. */
    readonly scope: TokenScope | null,
  ) {}

  /** The texts do not tell which permission is missing: that is nobody's business who lacks it. */
  need(permission: string): void {
    if (!this.may(permission)) throw forbidden('this is not permitted')
  }

  may(permission: string): boolean {
    const stronger = permission.replace(READING, '.query')
    if (!allows(this.identity.permissions, permission, stronger)) return false
    return this.scope === null || allows(this.scope.permissions, permission, stronger)
  }

  /** Sees only some objects. */
  get limited(): boolean {
    return this.scope !== null && (this.scope.tags.length > 0 || this.scope.groups.length > 0)
  }

  /** Whether an object, written as `instance/vm1`, is in the scope. Of objects that have neither tags nor group, none is. */
  sees(config: ConfigData, object: string): boolean {
    if (!this.limited) return true
    const [kind, name] = splitOnce(object)
    const found = describe(config, kind, name)
    return found !== undefined && this.covers(found)
  }

  /** Refuses an opcode that is not permitted, or touches what the scope does not hold. */
  check(config: ConfigData, op: WireOpCode): void {
    this.need(permissionOf(op.OP_ID))
    if (!this.limited) return
    const objects = objectsOf(op)
    const inside =
      op.OP_ID === 'OP_INSTANCE_CREATE'
        ? this.covers(newInstance(config, op)) && this.seesSource(config, op)
        : objects.every((object) => this.sees(config, object))
    // Disks that belong to no instance are in no scope, and neither is a question about everything.
    if (!inside || objects.length === 0 || takesDisks(op) || isAboutAll(op))
      throw forbidden('an object of this request is outside the scope of the token')
  }

  /** The data of an export are those of its instance. */
  private seesSource(config: ConfigData, op: WireOpCode): boolean {
    const { source_instance_name: remote, src_path: folder, instance_name: name } = op
    const exported = op['mode'] === 'import' ? textsOf([folder ?? name]).map((text) => posix.basename(text)) : []
    return [...textsOf(remote), ...exported].every((source) => this.sees(config, `instance/${source}`))
  }

  private covers({ tags, groups }: Described): boolean {
    if (this.scope === null) return true
    const { scope } = this
    const tagged = scope.tags.length === 0 || tags.some((tag) => scope.tags.includes(tag))
    const placed =
      scope.groups.length === 0 || (groups.length > 0 && groups.every((name) => scope.groups.includes(name)))
    return tagged && placed
  }
}

/** Lists of /3 show the fields that single objects have: who may query one may have these too. */
const READING = /\.(list|info)$/

export const forbidden = (text: string): OpPrereqError => new OpPrereqError(text, REFUSED.forbidden)

interface Described {
  readonly tags: readonly string[]
  readonly groups: readonly string[]
}

function describe(config: ConfigData, kind: string, name: string): Described | undefined {
  switch (kind) {
    case 'instance': {
      const instance = findInstance(config, name)
      return instance && { tags: instance.tags, groups: groupsOf(config, instance) }
    }
    case 'node': {
      const node = findNode(config, name)
      return node && { tags: node.tags, groups: groupNames(config, [node]) }
    }
    case 'group': {
      const group = findGroup(config, name)
      return group && { tags: group.tags, groups: [group.name] }
    }
    case 'network': {
      const network = findNetwork(config, name)
      return network && { tags: network.tags, groups: [] }
    }
    default:
      return undefined
  }
}

function groupsOf(config: ConfigData, instance: Instance): string[] {
  const node = config.nodes[instance.primary_node]
  return node === undefined ? [] : groupNames(config, [node])
}

const groupNames = (config: ConfigData, nodes: readonly Node[]): string[] =>
  nodes.flatMap(({ group }) => config.nodegroups[group]?.name ?? [])

/** A new instance: its tags, and the groups that it names or whose nodes it names. */
function newInstance(config: ConfigData, op: WireOpCode): Described {
  const groups = objectsOf(op).flatMap((object) => {
    const [kind, name] = splitOnce(object)
    return kind === 'node' || kind === 'group' ? (describe(config, kind, name)?.groups ?? []) : []
  })
  return { tags: textsOf(op['tags']), groups }
}

/** Parameters that name objects, by name or uuid, and of which kind they are. */
const NAMING: Readonly<Record<string, string>> = {
  instance_name: 'instance',
  instance_uuid: 'instance',
  instances: 'instance',
  source_instance_name: 'instance',
  ...Object.fromEntries(
    ['node_name', 'node', 'target_node', 'remote_node', 'pnode', 'snode', 'src_node'].flatMap((name) => [
      [name, 'node'],
      [`${name.replace('_name', '')}_uuid`, 'node'],
    ]),
  ),
  nodes: 'node',
  node_names: 'node',
  node_uuids: 'node',
  on_nodes: 'node',
  on_node_uuids: 'node',
  group_name: 'group',
  target_groups: 'group',
  network_name: 'network',
}

/** Existing disks, adopted by a new instance or attached to another one. */
function takesDisks({ disks }: WireOpCode): boolean {
  const entries: readonly unknown[] = Array.isArray(disks) ? disks : Object.values(disks ?? {})
  return entries.some((entry) =>
    Array.isArray(entry) ? entry[0] === 'attach' : isObject(entry) && entry['adopt'] !== undefined,
  )
}

const isAboutAll = (op: WireOpCode): boolean =>
  allOpcodes.get(op.OP_ID)?.params['visible'] !== undefined && !isObject(op['visible'])

const TAGGED: Readonly<Record<string, string>> = { nodegroup: 'group' }

/** Lists of what the answer to a question may tell of. */
const VISIBLE = [
  ['groups', 'group'],
  ['nodes', 'node'],
  ['instances', 'instance'],
] as const

/** The objects that an opcode names: `instance/vm1`. */
export function objectsOf(op: WireOpCode): string[] {
  const named = Object.entries(NAMING).flatMap(([parameter, kind]) =>
    textsOf(op[parameter]).map((name) => `${kind}/${name}`),
  )
  const { kind, name, visible } = op
  if (isObject(visible))
    for (const [kinds, one] of VISIBLE) named.push(...textsOf(visible[kinds]).map((object) => `${one}/${object}`))
  if (op.OP_ID.startsWith('OP_TAGS_') && typeof kind === 'string' && typeof name === 'string')
    named.push(`${TAGGED[kind] ?? kind}/${name}`)
  return named
}

function textsOf(value: unknown): string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  return list.filter((entry): entry is string => typeof entry === 'string')
}

function splitOnce(object: string): [string, string] {
  const at = object.indexOf('/')
  return at === -1 ? [object, ''] : [object.slice(0, at), object.slice(at + 1)]
}
