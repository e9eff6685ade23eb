// The memory of the maintenance daemon, in gantry.data, which all master candidates have. A value is only written over
// the one that was read. So neither a cancel in between nor a second daemon is ever overwritten.
import { change, type NamedChange, SOMEBODY_ELSE } from '../config/changes'
import { type Clock, within } from '../lib/clock'
import { Mutex } from '../lib/work/mutex'
import type { GantryData } from '../model/config'
import { ConfigurationError } from '../model/errors'
import { CHANGE_SEEN_S, CONFLICT_S, WRITES_MAX } from '../model/limits/maintenance'
import {
  MAINTENANCE,
  MAINTENANCE_DEFAULTS,
  maintenanceSettings,
  type MaintenanceSettings,
  type RepairEvent,
  repairEvents,
  type Round,
  ROUND_KEY,
  roundOf,
} from '../model/maintenance'
import type { ClientId } from '../model/lock'
import type { Wconfd } from '../rpc/wconfd/calls'

export interface StateStoreOptions {
  readonly wconfd: Pick<Wconfd, 'gantryChange'>
  readonly clock: Clock
  /** The followed copy. */
  gantry(): GantryData | undefined
  /** Calls the listener after each change. Returns a function that stops this. */
  onChange(listener: () => unknown): () => void
}

export interface Remembered {
  readonly events: readonly RepairEvent[]
  readonly round: Round | null
}

const CLIENT: ClientId = ['maintd', '', 0]

export class StateStore {
  private readonly turns = new Mutex()

  constructor(private readonly options: StateStoreOptions) {}

  settings(): MaintenanceSettings {
    const gantry = this.options.gantry()
    return gantry === undefined ? MAINTENANCE_DEFAULTS : maintenanceSettings(gantry)
  }

  read(): Remembered {
    const gantry = this.options.gantry()
    return gantry === undefined ? { events: [], round: null } : { events: repairEvents(gantry), round: roundOf(gantry) }
  }

  gantry(): GantryData | undefined {
    return this.options.gantry()
  }

  /** Replaces the memory by the result of `next`, which is called again if somebody else was faster. */
  update(next: (now: Remembered) => Remembered): Promise<Remembered> {
    return this.turns.runExclusive(async () => {
      for (let tries = 1; ; tries++) {
        const before = this.read()
        const after = next(before)
        const changes = changesOf(before, after)
        if (changes.length === 0) return after
        try {
          await this.options.wconfd.gantryChange(CLIENT, null, changes)
        } catch (error) {
          if (tries >= WRITES_MAX || !isConflict(error)) throw error
          await within(
            this.options.clock,
            CONFLICT_S,
            this.until(() => versionOf(this.read()) !== versionOf(before)),
          )
          continue
        }
        await within(this.options.clock, CHANGE_SEEN_S, this.seen(after, before))
        return after
      }
    })
  }

  /** For values that nobody else writes. */
  async put(key: string, value: unknown): Promise<void> {
    const known = this.options.gantry()?.sections[MAINTENANCE.rounds]?.[key] ?? null
    if (JSON.stringify(known) === JSON.stringify(value)) return
    await this.options.wconfd.gantryChange(CLIENT, null, [change('setGantry', MAINTENANCE.rounds, key, value)])
  }

  /** Resolves when the copy has the written values, so that the next step starts from them. */
  private seen(desired: Remembered, before: Remembered): Promise<void> {
    const gone = new Set(before.events.map(({ id }) => id))
    for (const { id } of desired.events) gone.delete(id)
    const isThere = () => {
      const { events, round } = this.read()
      const serials = new Map(events.map(({ id, serial_no }) => [id, serial_no]))
      return (
        desired.events.every(({ id, serial_no }) => (serials.get(id) ?? Infinity) >= serial_no) &&
        events.every(({ id }) => !gone.has(id)) &&
        (round?.serial_no ?? null) === (desired.round?.serial_no ?? null)
      )
    }
    return this.until(isThere)
  }

  private until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      let stop: () => void = () => undefined
      const look = (): boolean => {
        if (!holds()) return false
        stop()
        resolve()
        return true
      }
      if (!look()) stop = this.options.onChange(look)
    })
  }
}

/** Distinguishes states that somebody has changed. */
const versionOf = ({ events, round }: Remembered): string =>
  JSON.stringify([events.map(({ id, serial_no }) => [id, serial_no]), round?.id, round?.serial_no])

const isConflict = (error: unknown): boolean =>
  error instanceof ConfigurationError && error.message.startsWith(SOMEBODY_ELSE)

function changesOf(before: Remembered, after: Remembered): NamedChange[] {
  const old = new Map(before.events.map((event) => [event.id, event]))
  const now = new Set(after.events.map(({ id }) => id))
  const { events, rounds } = MAINTENANCE
  const changed = after.events.filter((event) => old.get(event.id) !== event)
  const gone = before.events.filter(({ id }) => !now.has(id))
  return [
    ...changed.map((event) => change('swapGantry', events, event.id, old.get(event.id)?.serial_no ?? null, event)),
    ...gone.map(({ id, serial_no }) => change('swapGantry', events, id, serial_no, null)),
    ...(before.round === after.round
      ? []
      : [change('swapGantry', rounds, ROUND_KEY, before.round?.serial_no ?? null, after.round)]),
  ]
}
