// Texts for a token with a scope: what a job, a plan or a refusal says of the cluster may name objects that the token does not see.
// Pure.
import { type Dictionary, keyByName, recordGet } from '../../config/records'
import { isObject } from '../../lib/shapes/shape'
import type { ConfigData } from '../../model/config'
import { GanetiError } from '../../model/errors'
import type { Access } from './access'

/** Replaces the names and uuids of hidden objects in all texts of a value, but for words that the caller has `said` itself. */
export type Telling = <T>(value: T, said: unknown) => T

export function tellingFor(access: Access, config: ConfigData): Telling {
  if (!access.limited) return (value) => value
  const known = access.known(config)
  const kindOf = (word: string): Kind | undefined =>
    KINDS.find(([, all]) => isIn(config[all], word) && !isIn(known[all], word))
  return (value, said) => {
    let spoken: string | undefined
    const isSaid = (word: string) => (spoken ??= JSON.stringify(said)?.toLowerCase() ?? '').includes(word.toLowerCase())
    const reported = (text: string): string =>
      text.replaceAll(WORD, (word: string, at: number) => {
        const kind = kindOf(word)
        if (kind === undefined || isSaid(word) || !isName(word, text.slice(0, at), kind)) return word
        return `(${kind[0]} outside of the scope)`
      })
    // Only texts change, so the value keeps its type.
    return everyText(value, reported) as typeof value
  }
}

/** The same for an error, which keeps its class. */
export function toldError(telling: Telling, error: unknown, said: unknown): unknown {
  if (!(error instanceof GanetiError)) return error
  const message = telling(error.message, said)
  if (message === error.message) return error
  return Object.assign(Object.create(error) as Error, { message, args: telling(error.args, said) })
}

type Kind = readonly [name: string, all: 'nodes' | 'instances' | 'nodegroups' | 'networks']

const KINDS: readonly Kind[] = [
  ['node', 'nodes'],
  ['instance', 'instances'],
  ['group', 'nodegroups'],
  ['network', 'networks'],
]

const WORD = /[A-Za-z0-9](?:[\w.-]*\w)?/g

const isIn = (all: Dictionary<{ readonly name: string }>, word: string): boolean =>
  keyByName(all, word) !== undefined || recordGet(all, word) !== undefined

/** A full name and a uuid are nothing else. A name of one word is also a word, and a name only behind that of its kind, or in quotes. */
const isName = (word: string, before: string, [kind]: Kind): boolean =>
  /[.]|^[0-9a-f]{8}-/.test(word) || new RegExp(`(${kind}s?|,|['"]|\\bon) ?['"]?$`).test(before)

function everyText(value: unknown, reported: (text: string) => string): unknown {
  if (typeof value === 'string') return reported(value)
  if (Array.isArray(value)) return value.map((one) => everyText(one, reported))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, everyText(one, reported)]))
}
