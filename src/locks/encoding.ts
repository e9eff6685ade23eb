// locks.data, in Ganeti's format: `[[[client, [[lock, mode], ...]], ...], [[priority, client, request], ...]]`.
import { ConfigurationError } from '../model/errors'
import { type ClientId, isClientId, type LockMode, type LockName, type LockRequest } from '../model/lock'
import { firstBlocker } from './blockers'
import { compareLocks, isLockRequest } from '../model/lock-names'
import { checkOrder } from './order'
import { enqueue } from './queue'
import { createTable, hold, ownerKey, type LockTable, type Owner } from './state'

/** Owners that did not change since the last time cost only the copy of their text. */
export function encodeTable(table: LockTable): string {
  const owners: string[] = []
  for (const owner of table.owners.values()) owners.push((owner.encoded ??= encodeOwner(owner)))
  // Requests stay in the order of arrival: a request for all locks blocks only later ones, also after the table is loaded again.
  const waiting = [...table.waiting.values()]
    .sort((one, other) => one.sequence - other.sequence)
    .map(({ priority, client, request }) => [priority, client, request])
  return `[[${owners.join(',')}],${JSON.stringify(waiting)}]`
}

/** Throws ConfigurationError when the text is no lock table or contradicts itself. */
export function decodeTable(text: string, firstEpoch: number, at: number): LockTable {
  const table = createTable(firstEpoch)
  const { owners, waiting } = parse(text)
  for (const { client, locks } of owners) {
    const wanted = {
      key: ownerKey(client),
      client,
      request: locks,
      priority: 0,
      sequence: table.nextSequence++,
      since: at,
    }
    if (firstBlocker(table, wanted) !== undefined)
      throw new ConfigurationError(`locks.data gives ${JSON.stringify(client)} locks that another owner has`)
    for (const [lock, mode] of locks) hold(table, wanted.key, client, lock, mode, at)
    const owner = table.owners.get(wanted.key)
    if (owner) owner.epoch = null
  }
  for (const { client, priority, request } of waiting) {
    const wanted = { key: ownerKey(client), client, request, priority, sequence: table.nextSequence++, since: at }
    checkOrder(table.owners.get(wanted.key), request)
    const blocker = firstBlocker(table, wanted)
    if (blocker !== undefined) enqueue(table, wanted, blocker)
    else for (const [lock, mode] of request) hold(table, wanted.key, client, lock, mode, at)
  }
  return table
}

export const inQueueOrder = (table: LockTable) =>
  [...table.waiting.values()].sort((a, b) => a.priority - b.priority || a.sequence - b.sequence)

export const heldLocks = (owner: Owner | undefined): [LockName, LockMode][] =>
  [...(owner?.locks ?? [])]
    .sort(([a], [b]) => compareLocks(a, b))
    .map(([lock, { mode }]): [LockName, LockMode] => [lock, mode])

const encodeOwner = (owner: Owner) => JSON.stringify([owner.client, heldLocks(owner)])

const isPair = (value: unknown): value is [unknown, unknown] => Array.isArray(value) && value.length === 2

interface Parsed {
  owners: { client: ClientId; locks: [LockName, LockMode][] }[]
  waiting: { priority: number; client: ClientId; request: LockRequest[] }[]
}

function parse(text: string): Parsed {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw malformed('not JSON')
  }
  if (!isPair(value) || !Array.isArray(value[0]) || !Array.isArray(value[1])) throw malformed('no pair of lists')
  return { owners: value[0].map(parseOwner), waiting: value[1].map(parseWaiting) }
}

function parseOwner(value: unknown): Parsed['owners'][number] {
  if (!isPair(value) || !isClientId(value[0]) || !Array.isArray(value[1])) throw malformed(JSON.stringify(value))
  const locks: unknown[] = value[1]
  return {
    client: value[0],
    locks: locks.map((lock): [LockName, LockMode] => {
      if (!isLockRequest(lock) || lock[1] === 'release') throw malformed(JSON.stringify(lock))
      return [lock[0], lock[1]]
    }),
  }
}

function parseWaiting(value: unknown): Parsed['waiting'][number] {
  if (!Array.isArray(value)) throw malformed(JSON.stringify(value))
  const items: unknown[] = value
  const [priority, client, request] = items
  if (typeof priority !== 'number' || !isClientId(client) || !Array.isArray(request) || !request.every(isLockRequest))
    throw malformed(JSON.stringify(value))
  return { priority, client, request }
}

const malformed = (what: string) => new ConfigurationError(`locks.data is malformed: ${what.slice(0, 200)}`)
