// locks.data, in Ganeti's format: `[[[client, [[lock, mode], ...]], ...], [[priority, client, request], ...]]`.
import { listOf, tuple } from '../lib/shapes/containers'
import { int, oneOf } from '../lib/shapes/leaves'
import { Mismatch, type ValueOf } from '../lib/shapes/shape'
import { plainly } from '../lib/shapes/words'
import { ConfigurationError } from '../model/errors'
import type { LockMode, LockName } from '../model/lock'
import { compareLocks } from '../model/lock-names'
import { clientId, knownLock, LOCK_MODES, lockRequest } from '../model/lock-shapes'
import { firstBlocker } from './blockers'
import { checkOrder } from './order'
import { enqueue, revisit } from './queue'
import { createTable, hold, ownerKey, type LockTable, type Owner } from './state'

/** For an unchanged owner this only copies its text. */
export function encodeTable(table: LockTable): string {
  const owners: string[] = []
  for (const owner of table.owners.values()) owners.push((owner.encoded ??= encodeOwner(owner)))
  // Requests stay in the order of arrival: a request for all locks blocks only later ones, also after a reload.
  const waiting = [...table.waiting.values()]
    .sort((one, other) => one.sequence - other.sequence)
    .map(({ priority, client, request }) => [priority, client, request])
  return `[[${owners.join(',')}],${JSON.stringify(waiting)}]`
}

/** Throws ConfigurationError if the text is no lock table or contradicts itself. */
export function decodeTable(text: string, firstEpoch: number, at: number): LockTable {
  const table = createTable(firstEpoch)
  const [owners, waiting] = parse(text)
  for (const [client, locks] of owners) {
    const desired = {
      key: ownerKey(client),
      client,
      request: locks,
      priority: 0,
      sequence: table.nextSequence++,
      since: at,
    }
    if (firstBlocker(table, desired) !== undefined)
      throw new ConfigurationError(`locks.data gives ${JSON.stringify(client)} locks that another owner has`)
    for (const [lock, mode] of locks) hold(table, desired.key, client, lock, mode, at)
    const owner = table.owners.get(desired.key)
    if (owner) owner.epoch = null
  }
  for (const [priority, client, request] of waiting) {
    const desired = { key: ownerKey(client), client, request, priority, sequence: table.nextSequence++, since: at }
    checkOrder(table.owners.get(desired.key), request)
    const blocker = firstBlocker(table, desired)
    if (blocker !== undefined) {
      enqueue(table, desired, blocker)
      continue
    }
    for (const [lock, mode] of request) hold(table, desired.key, client, lock, mode, at)
    revisit(table, desired.key, at)
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

const locksFile = tuple(
  listOf(tuple(clientId, listOf(tuple(knownLock, oneOf('LockMode', LOCK_MODES))))),
  listOf(tuple(int, clientId, listOf(lockRequest))),
)

function parse(text: string): ValueOf<typeof locksFile> {
  try {
    return locksFile.parse(JSON.parse(text))
  } catch (error) {
    throw error instanceof Mismatch || error instanceof SyntaxError ? malformed(error) : error
  }
}

const malformed = (error: Mismatch | SyntaxError) =>
  new ConfigurationError(
    `locks.data is malformed: ${error instanceof Mismatch ? plainly(error, { found: true }) : error.message}`,
  )
