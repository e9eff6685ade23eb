// Reduces a plan to what its caller may see. Omits objects that a token does not know, also from the texts of units.
import type { ConfigData } from '../../model/config'
import { opcodeSummary } from '../../opcodes/index'
import { objectsOf } from '../../opcodes/objects'
import type { WireOpCode } from '../../rpc/luxi/calls'
import type { Planned, PlannedOpcode, Prerequisite } from '../../rpc/luxi/plan'
import { type Access, splitOnce } from '../access/access'
import { tellingFor } from '../access/hidden-names'
import { describe } from '../access/scope'

/** `said`: the opcodes as the caller gave them. */
export function plannedFor(
  access: Access,
  config: ConfigData,
  said: readonly WireOpCode[],
): (planned: Planned) => PlannedOpcode {
  if (!access.limited) return ({ opcode }) => opcode
  const known = access.known(config)
  const isHidden = (object: string): boolean => {
    const [kind, name] = splitOnce(object)
    return describe(config, kind, name) !== undefined && describe(known, kind, name) === undefined
  }
  const isShown = (node: string): boolean => !isHidden(`node/${node}`)
  const shownCondition = (condition: Prerequisite): Prerequisite =>
    condition.node === null || isShown(condition.node) ? condition : { ...HIDDEN_NODE, passed: condition.passed }
  const telling = tellingFor(access, config)
  return ({ opcode, submits }) => ({
    ...opcode,
    messages: telling(opcode.messages, said),
    changes_note: telling(opcode.changes_note, said),
    locks: opcode.locks.filter(({ lock }) => !isHidden(objectOfLock(lock))),
    prerequisites: telling(opcode.prerequisites.map(shownCondition), said),
    hooks: opcode.hooks && {
      ...opcode.hooks,
      pre: opcode.hooks.pre.filter(isShown),
      post: opcode.hooks.post.filter(isShown),
    },
    changes: opcode.changes.filter(({ kind, name }) => access.sees(config, `${kind}/${name}`)),
    node_calls: opcode.node_calls.filter(({ node }) => isShown(node)),
    jobs: submits.map((ops) => ops.filter((op) => !objectsOf(op).some(isHidden)).map(opcodeSummary)),
  })
}

const HIDDEN_NODE = {
  what: 'A node outside the scope of the token answers',
  ...{ reason: null, code: null, node: null },
}

const LEVELS: Readonly<Record<string, string>> = { nodegroup: 'group', 'node-res': 'node' }

function objectOfLock(lock: string): string {
  const [level, name] = splitOnce(lock)
  return `${LEVELS[level] ?? level}/${name}`
}
