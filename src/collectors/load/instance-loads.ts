// The processor load of instances, from their used processor time at several looks.
import { INSTANCES_SEEN_MAX, LOAD_SAMPLES_MAX, LOAD_WINDOW_S } from '../../model/limits/collectors'
import { dict, float, type AnyShape } from '../shapes'
import { Window } from './window'

export const LOADS: AnyShape = dict(float)

interface Pace {
  /** The least number of seconds between the looks for a load. */
  readonly span_s: number
  /** Seconds after which a silent instance is forgotten. */
  readonly silent_s: number
}

interface Counted {
  readonly window: Window<number>
  /** The last reading. */
  counter: number
  /** Keeps growing when the counter begins again, as after a restart of the instance. */
  used_s: number
}

export class InstanceLoads {
  private readonly instances = new Map<string, Counted>()

  constructor(private readonly pace: Pace) {}

  /** Adds a look. Returns processor seconds per second. */
  look(at_ms: number, counters: ReadonlyMap<string, number>): Record<string, number> {
    for (const [name, counter] of [...counters].slice(0, INSTANCES_SEEN_MAX)) this.add(name, at_ms, counter)
    for (const [name, { window }] of this.instances) {
      const heard_ms = window.last?.at_ms ?? -Infinity
      if (at_ms - heard_ms >= this.pace.silent_s * 1000) this.instances.delete(name)
    }
    const loads = [...this.instances].flatMap(([name, { window }]) => {
      const [oldest, newest] = window.ends(this.pace.span_s) ?? []
      if (oldest === undefined || newest === undefined) return []
      return [[name, (newest.value - oldest.value) / ((newest.at_ms - oldest.at_ms) / 1000)] as const]
    })
    return Object.fromEntries(loads)
  }

  private add(name: string, at_ms: number, counter: number): void {
    const known = this.instances.get(name)
    const counted = known ?? { window: fresh(), counter, used_s: 0 }
    counted.used_s += counter >= counted.counter ? counter - counted.counter : counter
    counted.counter = counter
    counted.window.add({ at_ms, value: counted.used_s })
    this.instances.set(name, counted)
  }
}

const fresh = (): Window<number> => new Window({ samples: LOAD_SAMPLES_MAX, span_s: LOAD_WINDOW_S })
