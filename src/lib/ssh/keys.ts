// Lists of SSH keys: OpenSSH's authorized_keys, and Ganeti's list of the nodes' public keys, with a node's uuid before
// each key.

/** Keys by a node's uuid, or by its name while it has no uuid. */
export type PublicKeys = ReadonlyMap<string, readonly string[]>

/** Type and key, without options and comment; undefined if the line has no key. */
function bareKey(line: string): string | undefined {
  const [, type, key] = /(?:^|[\s"])((?:ssh|ecdsa|sk-ssh|sk-ecdsa)-[\w.@-]+)\s+([\w+/]+=*)(?:\s|$)/.exec(line) ?? []
  return type === undefined || line.trimStart().startsWith('#') ? undefined : `${type} ${key}`
}

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '')
const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')
const bareKeys = (lines: readonly string[]): Set<string | undefined> => new Set(lines.map(bareKey))

/** Tells which keys the file lets in. */
export function authorizedIn(text: string): (key: string) => boolean {
  const known = bareKeys(linesOf(text))
  known.delete(undefined)
  return (key) => known.has(bareKey(key))
}

/** Keys that are already there stay unchanged. */
export function withAuthorizedKeys(text: string, keys: readonly string[]): string {
  const lines = linesOf(text)
  const known = bareKeys(lines)
  const fresh = new Map(keys.map((key) => [bareKey(key), key.trim()]))
  return textOf([
    ...lines,
    ...[...fresh].flatMap(([bare, key]) => (bare === undefined || known.has(bare) ? [] : [key])),
  ])
}

export function withoutAuthorizedKeys(text: string, keys: readonly string[]): string {
  const unwanted = bareKeys(keys)
  unwanted.delete(undefined)
  return textOf(linesOf(text).filter((line) => !unwanted.has(bareKey(line))))
}

/** Owners with several keys, and the numbers of their lines, from 1. */
export function repeatedOwners(text: string): Map<string, readonly number[]> {
  const lines = new Map<string, number[]>()
  text.split('\n').forEach((line, index) => {
    const owner = bareKey(line) === undefined ? undefined : /\S+@\S+$/.exec(line.trimEnd())?.[0]
    if (owner !== undefined) lines.set(owner, [...(lines.get(owner) ?? []), index + 1])
  })
  return new Map([...lines].filter(([, numbers]) => numbers.length > 1))
}

export function parsePublicKeys(text: string): Map<string, string[]> {
  const keys = new Map<string, string[]>()
  for (const line of linesOf(text)) {
    const [, node, key] = /^(\S+)\s+(\S.*)$/.exec(line) ?? []
    if (node !== undefined && key !== undefined) keys.set(node, [...(keys.get(node) ?? []), key])
  }
  return keys
}

export const formatPublicKeys = (keys: PublicKeys): string =>
  textOf([...keys].flatMap(([node, list]) => list.map((key) => `${node} ${key.trim()}`)))
