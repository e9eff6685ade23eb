// What a caller may do and see through /3. A caller has its user's permissions. A caller with a token has only the token's permissions, and
// sees only the objects in the token's scope. Pure: callers look up the token.
import { posix } from 'node:path'
import { keyByName } from '../../config/records'
import type { ConfigData } from '../../model/config'
import { OpPrereqError, REFUSED } from '../../model/errors'
import { allows, isTaken, KINDS, queryOf } from '../../model/permissions'
import { isObject } from '../../lib/shapes/shape'
import { definitionOf } from '../../opcodes/index'
import { objectsOf, textsOf } from '../../opcodes/objects'
import { permissionNames, permissionsFor } from '../../opcodes/permission'
import type { Unseen } from '../../query/source'
import type { WireOpCode } from '../../rpc/luxi/calls'
import type { Identity, TokenScope } from '../../rpc/luxi/gantry'
import { covers, describe, type Described, includes, isLimited, knownTo, unseenBy } from './scope'
import { isQuestion, notSettable } from './settable'

export class Access {
  constructor(
    readonly identity: Identity,
    /** The token's scope; null for a user with a password. */
    readonly scope: TokenScope | null,
  ) {}

  /**
   * Throws an error that names the missing permission. The caller has logged in, and the documentation lists
   * permissions anyway.
   */
  need(permission: string, what = 'this'): void {
    if (!this.may(permission)) throw forbidden(`${what} needs the permission ${permission}${this.lacking(permission)}`)
  }

  may(permission: string): boolean {
    const stronger = queryOf(permission)
    if (!allows(this.identity.permissions, permission, stronger)) return false
    return this.scope === null || allows(this.scope.permissions, permission, stronger)
  }

  private isTaken(permission: string): boolean {
    return [this.identity, this.scope].some((input) => input !== null && isTaken(input.permissions, permission))
  }

  /** Whether the token or the user lacks it: a new token helps only in the first case. */
  private lacking(permission: string): string {
    if (this.scope === null) return ''
    const user = new Access({ ...this.identity, token: null }, null)
    return user.may(permission) ? ', which the token does not have' : ', which the user of the token does not have'
  }

  /** Whether it sees only some objects. */
  get limited(): boolean {
    return this.scope !== null && isLimited(this.scope)
  }

  /** Whether an object, written as `instance/vm1`, is in the scope. An object with neither tags nor group is in no scope. */
  sees(config: ConfigData, object: string): boolean {
    if (!this.limited) return true
    const [kind, name] = splitOnce(object)
    const found = describe(config, kind, name)
    return found !== undefined && this.covers(found)
  }

  /** Like `sees`, for a full name as events have it. Finding that an object is gone then needs no search through all objects. */
  seesByFullName(config: ConfigData, object: string): boolean {
    const [kind, name] = splitOnce(object)
    const all = { instance: config.instances, node: config.nodes }[kind]
    return (
      (all === undefined || keyByName<{ readonly name: string }>(all, name) !== undefined) && this.sees(config, object)
    )
  }

  /** The cluster as far as the caller may know it. Questions about visible data are answered from this. */
  known(config: ConfigData): ConfigData {
    return this.scope === null || !isLimited(this.scope) ? config : knownTo(this.scope, config)
  }

  /** Where instances are that the caller does not see; undefined if it sees everything. */
  unseen(config: ConfigData): Unseen | undefined {
    return this.scope === null || !isLimited(this.scope) ? undefined : unseenBy(this.scope, config)
  }

  /** Whether a token has no more rights than the caller. The caller may neither see nor revoke a wider one. */
  reaches({ permissions, ...scope }: TokenScope): boolean {
    if (this.scope === null) return true
    const allowed = new Access({ ...this.identity, permissions }, null)
    const mine = new Access({ ...this.identity, permissions: this.scope.permissions }, null)
    return includes(this.scope, scope) && permissionNames.every((name) => mine.may(name) || !allowed.may(name))
  }

  /** Refuses an opcode that is not permitted, or that touches objects outside the scope. */
  check(config: ConfigData, op: WireOpCode): void {
    // A caller that does not see an object must not learn the permission that a change needs.
    if (this.limited && !this.isInside(config, op)) throw forbidden(OUTSIDE)
    if (this.limited) checkSettable(op)
    for (const permission of permissionsFor(op)) this.need(permission)
    const requested = KINDS.get(String(op['what']))
    if (op.OP_ID === 'OP_QUERY' && requested !== undefined && this.isTaken(`${requested}.query`))
      throw forbidden(`the permission ${requested}.query was taken away`)
  }

  /** Like `check`, for the opcodes of jobs that a permitted opcode submits. That opcode has chosen their details. */
  checkSubmitted(config: ConfigData, op: WireOpCode): void {
    const instances = objectsOf(op).filter((object) => object.startsWith('instance/'))
    if (!instances.every((object) => this.sees(config, object))) throw forbidden(OUTSIDE)
    for (const permission of permissionsFor(op))
      this.need(permission, [op.OP_ID, ...instances].join(' of ').replace('instance/', 'instance '))
  }

  private isInside(config: ConfigData, op: WireOpCode): boolean {
    const objects = objectsOf(op)
    const inside =
      op.OP_ID === 'OP_INSTANCE_CREATE'
        ? this.mayCreate(config, op)
        : objects.every((object) => this.sees(config, object))
    // Disks without an instance are in no scope. A question about everything is in no scope either.
    const beyond = objects.length === 0 || takesDisks(op) || isAboutAll(op) || !this.knowsNetworks(config, op)
    return inside && !beyond
  }

  /**
   * A new instance belongs to the scope by its tags, and by the nodes and groups that it names. The caller must know
   * all of these.
   */
  private mayCreate(config: ConfigData, op: WireOpCode): boolean {
    const known = this.known(config)
    const places = objectsOf(op).filter((object) => !object.startsWith('instance/'))
    const groups = places.map((object) => describe(known, ...splitOnce(object))?.groups)
    if (groups.some((names) => names === undefined)) return false
    // A commit turns a reserved instance into a real one, which keeps its tags unless it is given others.
    const reserved = op['commit'] === true && `instance/${String(op['instance_name'])}`
    if (reserved !== false && !this.sees(config, reserved)) return false
    if (reserved !== false && textsOf(op['tags']).length === 0) return this.seesSource(config, op)
    const created = { tags: textsOf(op['tags']), groups: groups.flatMap((names) => names ?? []) }
    return this.covers(created) && this.seesSource(config, op)
  }

  private knowsNetworks(config: ConfigData, op: WireOpCode): boolean {
    const networks = networksOf(op)
    if (networks.length === 0) return true
    const known = this.known(config)
    return networks.every((name) => describe(known, 'network', name) !== undefined)
  }

  /** An export's data belong to its instance. */
  private seesSource(config: ConfigData, op: WireOpCode): boolean {
    const { source_instance_name: remote, src_path: folder, instance_name: name } = op
    const exported = op['mode'] === 'import' ? textsOf([folder ?? name]).map((text) => posix.basename(text)) : []
    return [...textsOf(remote), ...exported].every((source) => this.sees(config, `instance/${source}`))
  }

  private covers(found: Described): boolean {
    return this.scope === null || covers(this.scope, found)
  }
}

/**
 * A token with a scope may not set parameters that concern machines, even of objects in its scope. Only the machines'
 * administrators may.
 */
function checkSettable(op: WireOpCode): void {
  const parameter = notSettable(op)
  if (parameter === undefined) return
  const { permission } = definitionOf(op.OP_ID)
  throw forbidden(
    `${objectsOf(op)[0]}: a token with a scope may not set ${parameter} to what was given, because that is a matter of machines;` +
      ` use a token without a scope, or a password, with the permission ${permission}`,
  )
}

/** The same text for missing objects: a name outside the scope looks like one that nobody has. */
export const OUTSIDE = 'an object of this request is outside the scope of the token'

export const forbidden = (text: string): OpPrereqError => new OpPrereqError(text, REFUSED.forbidden)

/** Disks that belonged to another instance. */
function takesDisks({ disks }: WireOpCode): boolean {
  const entries: readonly unknown[] = Array.isArray(disks) ? disks : []
  return entries.some((entry) => Array.isArray(entry) && entry[0] === 'attach')
}

/** The networks of NICs, of a new instance or in changes of one: `[action, index, parameters]`. */
function networksOf({ nics }: WireOpCode): string[] {
  const entries: readonly unknown[] = Array.isArray(nics) ? nics : []
  const parameters = entries.map((entry) => (Array.isArray(entry) ? (entry.at(-1) as unknown) : entry))
  return parameters
    .flatMap((entry) => (isObject(entry) ? textsOf(entry['network']) : []))
    .filter((name) => name !== 'none')
}

/** Shows the request to an allocator, which describes the whole cluster. */
const isAboutAll = (op: WireOpCode): boolean =>
  op.OP_ID === 'OP_TEST_ALLOCATOR' || (isQuestion(definitionOf(op.OP_ID)) && !isObject(op['visible']))

export function splitOnce(object: string): [string, string] {
  const at = object.indexOf('/')
  return at === -1 ? [object, ''] : [object.slice(0, at), object.slice(at + 1)]
}
