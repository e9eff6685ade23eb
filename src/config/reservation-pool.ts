// Values of one kind that clients reserve until these are in the configuration, or the client ends.
import { ReservationError } from '../model/errors'
import type { ClientId } from '../model/lock'

export class ReservationPool<T = string> {
  private readonly clients = new Map<string, { client: ClientId; values: Map<string, T> }>()
  private readonly taken = new Set<string>()

  constructor(private readonly idOf: (value: T) => string) {}

  has(id: string): boolean {
    return this.taken.has(id)
  }

  reserve(client: ClientId, value: T): T {
    const id = this.idOf(value)
    if (this.taken.has(id)) throw new ReservationError(`Duplicate reservation for resource '${id}'`)
    const key = JSON.stringify(client)
    const own = this.clients.get(key) ?? { client, values: new Map<string, T>() }
    own.values.set(id, value)
    this.clients.set(key, own)
    this.taken.add(id)
    return value
  }

  of(client: ClientId): T[] {
    return [...(this.clients.get(JSON.stringify(client))?.values.values() ?? [])]
  }

  all(): T[] {
    return [...this.clients.values()].flatMap(({ values }) => [...values.values()])
  }

  owners(): ClientId[] {
    return [...this.clients.values()].map(({ client }) => client)
  }

  /** Returns whether there was anything to drop. */
  drop(client: ClientId): boolean {
    const key = JSON.stringify(client)
    for (const id of this.clients.get(key)?.values.keys() ?? []) this.taken.delete(id)
    return this.clients.delete(key)
  }

  /** As in tempres.data. */
  toJSON(): [ClientId, T[]][] {
    return [...this.clients.values()].map(({ client, values }) => [client, [...values.values()]])
  }
}
