// Names that opcodes give to new objects. They become parts of paths, of command lines and of what hooks are told, so the HTTP doors refuse
// a bad one before there is a job; `fill` of the logical units refuses it for everybody.
import { isHostname } from '../model/names'
import { isObject, type JsonObject } from './check'

type Rule = (name: string) => boolean

/** The rule for names of groups and networks: everything but characters that would break a line, a path or a shell's command. */
const isPlainName: Rule = (name) => !/[\p{Cc}/\\;&|<>$`"'*?()[\]{}!#~]/u.test(name) && name !== '.' && name !== '..'

const HOSTNAME = 'it may have letters, digits, dots, hyphens and underscores'
const PLAIN = 'it may have no slash, no control character and none that is special to a shell'

/** By opcode: the parameter, its rule, and the rule in words. */
const NEW_NAMES: ReadonlyMap<string, readonly [parameter: string, rule: Rule, words: string]> = new Map([
  ['OP_INSTANCE_CREATE', ['instance_name', isHostname, HOSTNAME]],
  ['OP_INSTANCE_RENAME', ['new_name', isHostname, HOSTNAME]],
  ['OP_NODE_ADD', ['node_name', isHostname, HOSTNAME]],
  ['OP_CLUSTER_RENAME', ['name', isHostname, HOSTNAME]],
  ['OP_GROUP_ADD', ['group_name', isPlainName, PLAIN]],
  ['OP_GROUP_RENAME', ['new_name', isPlainName, PLAIN]],
  ['OP_NETWORK_ADD', ['network_name', isPlainName, PLAIN]],
  ['OP_NETWORK_RENAME', ['new_name', isPlainName, PLAIN]],
])

/** Says why the name that an opcode gives is wrong, and names its parameter; undefined when the name is good. */
export function badNewName(op: { readonly OP_ID: string } & JsonObject): string | undefined {
  const [parameter, rule, words] = NEW_NAMES.get(op.OP_ID) ?? []
  if (parameter !== undefined && rule !== undefined) {
    const name = op[parameter]
    if (typeof name === 'string' && !rule(name))
      return `Parameter '${parameter}': '${visible(name)}' is no name: ${words}`
  }
  const more = op.OP_ID === 'OP_INSTANCE_MULTI_ALLOC' && Array.isArray(op['instances']) ? op['instances'] : []
  return more
    .flatMap((instance) => (isObject(instance) ? (badNewName({ ...instance, OP_ID: 'OP_INSTANCE_CREATE' }) ?? []) : []))
    .at(0)
}

/** Control characters as they are written in JSON. */
const visible = (name: string): string => JSON.stringify(name).slice(1, -1).slice(0, 100)
