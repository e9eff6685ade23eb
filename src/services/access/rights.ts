// What a caller may do, for the answer that a session gets before anything is refused. The tables of opcodes and calls say which permission
// each needs, and which concern the whole cluster.
import type { ConfigData } from '../../model/config'
import { KINDS } from '../../model/permissions'
import { allOpcodes } from '../../opcodes/all'
import type { OpcodeDefinition } from '../../opcodes/opcode'
import { permissionNames } from '../../opcodes/permission'
import type { CallerRights } from '../../rpc/luxi/gantry'
import { gantryCalls } from '../../rpc/luxi/gantry-calls'
import type { Access } from './access'
import { kindsWithout } from './scope'

export function rightsOf(caller: Access, config: ConfigData): CallerRights {
  const had = permissionNames.filter((name) => caller.may(name))
  if (!caller.limited || caller.scope === null)
    return { permissions: had, scope: null, beyond_scope: [], empty_kinds: [] }
  const { tags, groups } = caller.scope
  const isBeyond = (name: string): boolean => FOR_EVERYBODY.has(name)
  return {
    permissions: had.filter((name) => !isBeyond(name)),
    scope: { tags, groups },
    beyond_scope: had.filter(isBeyond),
    empty_kinds: kindsWithout(caller.scope, config),
  }
}

interface Use {
  readonly permission: string
  readonly forEverybody: boolean
}

/** An opcode that names no object, or only one that it makes, is in no scope. */
const namesNothing = ({ params }: OpcodeDefinition): boolean =>
  Object.values(params).every(
    ({ names, newName, opcodes }) => (names === undefined || newName !== undefined) && opcodes === undefined,
  )

const USES: readonly Use[] = [
  ...[...allOpcodes.values()].map((one) => ({ permission: one.permission, forEverybody: namesNothing(one) })),
  ...Object.values(gantryCalls).flatMap(({ needs, mayNeed, forEverybody }) =>
    [needs ?? [], mayNeed].flat().map((permission) => ({ permission, forEverybody })),
  ),
  // Lists have only what is in the scope.
  ...[...KINDS.values()].flatMap((kind) =>
    [`${kind}.list`, `${kind}.query`].map((permission) => ({ permission, forEverybody: false })),
  ),
]

const REACHING: ReadonlySet<string> = new Set(
  USES.flatMap(({ permission, forEverybody }) => (forEverybody ? [] : [permission])),
)

/** Permissions that only allow what concerns the whole cluster. */
const FOR_EVERYBODY: ReadonlySet<string> = new Set(
  USES.map(({ permission }) => permission).filter((permission) => !REACHING.has(permission)),
)
