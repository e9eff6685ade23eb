// Names for new objects in opcodes. They become parts of paths, command lines and hook variables. So the HTTP doors
// refuse a bad name before there is a job, and `fill` of the logical units refuses it for all callers.
import { isHostname } from '../model/names'
import type { ObjectKind } from '../model/object-kinds'
import { allOpcodes } from './all'
import type { JsonObject } from '../lib/shapes/shape'
import { opcodesInside } from './objects'

type Rule = (name: string) => boolean

/**
 * The rule for names of groups and networks: everything but what would break a line, a path or a shell's command. Commands would
 * take a name with a hyphen in front for an option.
 */
const isPlainName: Rule = (name) =>
  !/^[- ]| $|[\p{Cc}/\\;&|<>$`"'*?()[\]{}!#~]/u.test(name) && name !== '.' && name !== '..'

const HOSTNAME =
  'it may have letters, digits, dots, hyphens and underscores, and at most 63 characters between two dots'
const PLAIN =
  'it may have no slash, no control character, none that is special to a shell, and no hyphen or blank in front'

const RULES: Readonly<Record<ObjectKind, readonly [rule: Rule, words: string]>> = {
  cluster: [isHostname, HOSTNAME],
  instance: [isHostname, HOSTNAME],
  node: [isHostname, HOSTNAME],
  group: [isPlainName, PLAIN],
  network: [isPlainName, PLAIN],
}

/** Why the new name in an opcode is wrong, with its parameter; undefined if the name is good. */
export const badNewName = (op: Named): string | undefined => wrongNewName(op)?.text

type Named = { readonly OP_ID: string } & JsonObject

export function wrongNewName(op: Named): { readonly parameter: string; readonly text: string } | undefined {
  for (const [parameter, { newName }] of Object.entries(allOpcodes.get(op.OP_ID)?.params ?? {})) {
    const name = op[parameter]
    if (newName === undefined || typeof name !== 'string') continue
    const [isGood, words] = RULES[newName]
    if (!isGood(name)) return { parameter, text: `Parameter '${parameter}': '${visible(name)}' is no name: ${words}` }
  }
  return opcodesInside(op)
    .flatMap((held) => wrongNewName(held) ?? [])
    .at(0)
}

/** Control characters in JSON's form. */
const visible = (name: string): string => JSON.stringify(name).slice(1, -1).slice(0, 100)
