// gantry.data in memory, with the rules of the real one, and maintd's view of it.
import { applyChange, type NamedChange } from '../../src/config/changes'
import { EMPTY_GANTRY } from '../../src/config/upgrade'
import type { Clock } from '../../src/lib/clock'
import { seededRandom } from '../../src/lib/random'
import { StateStore } from '../../src/maintenance/state-store'
import type { ConfigData, Documents, GantryData } from '../../src/model/config'
import { smallConfig } from '../unit/config/builders'

export class GantryBox {
  readonly random = seededRandom(1)
  /** Changes that were written. */
  writes = 0
  private documents: Documents
  private readonly listeners = new Set<() => void>()

  constructor(
    readonly clock: Clock,
    config: ConfigData = smallConfig(),
  ) {
    this.documents = { config, gantry: EMPTY_GANTRY }
  }

  get gantry(): GantryData {
    return this.documents.gantry
  }

  change(...changes: readonly NamedChange[]): void {
    let after = this.documents
    for (const one of changes) after = applyChange(after, one, { now_s: 1, random: this.random }).documents
    this.documents = after
    this.writes += changes.length
    for (const listener of [...this.listeners]) listener()
  }

  /** A new one for each daemon that is started. */
  memory(): StateStore {
    return new StateStore({
      clock: this.clock,
      gantry: () => this.gantry,
      onChange: (listener) => {
        this.listeners.add(listener)
        return () => void this.listeners.delete(listener)
      },
      wconfd: {
        gantryChange: async (_client, _epoch, changes) => {
          this.change(...changes)
          return changes.map(() => null)
        },
      },
    })
  }
}
