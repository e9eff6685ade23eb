// Locks as queries show them: their holders, and who waits.
import type { LockReader, LockView } from '../../query/source'
import type { ClientId, Wconfd } from '../../rpc/wconfd/calls'

export function lockReader(wconfd: Wconfd): LockReader {
  return { locks: async () => lockViews(...(await wconfd.listLocksWaitingStatus())) }
}

type Status = Awaited<ReturnType<Wconfd['listLocksWaitingStatus']>>

export function lockViews(held: Status[0], waiting: Status[1]): LockView[] {
  const pending = new Map<string, [string, string[]][]>()
  for (const [, client, request] of waiting)
    for (const [lock, mode] of request) {
      if (mode !== 'release') pending.set(lock, [...(pending.get(lock) ?? []), [mode, [ownerText(client)]]])
    }
  const owners = new Map(held)
  const names = [...new Set([...owners.keys(), ...pending.keys()])]
  return names.map((name) => {
    const holders = owners.get(name) ?? []
    const exclusive = holders.some(([, mode]) => mode === 'exclusive')
    return {
      name,
      mode: holders.length === 0 ? null : exclusive ? 'exclusive' : 'shared',
      owner: holders.map(([client]) => ownerText(client)),
      pending: pending.get(name) ?? [],
    }
  })
}

/** JSON: a job is its number, any other owner its name in quotes. */
const ownerText = (client: ClientId): string => JSON.stringify(client[0])
