// The average load of the node's processors over some minutes.
import { LOAD_PAUSE_S, LOAD_SAMPLES_MAX, LOAD_WINDOW_S } from '../../model/limits/collectors'
import { TICKS_PER_S } from '../processes'
import { type Collector, CollectorFailure, type NodeSources, readSource } from '../report'
import { about, float, int, list, record } from '../shapes'
import { Window } from './window'

export const cpuAvgLoad: Collector = {
  ...{ name: 'cpu-avg-load', category: null, kind: 'performance' },
  help: 'how busy the processors are',
  ...{ interval_s: 5, cost_ms: 1, stateful: true },
  shape: record({
    cpu_number: int,
    cpus: about('the share of its time that each processor works', list(float)),
    cpu_total: about('all together', float),
  }),
  open(sources) {
    const window = new Window<readonly number[]>({ samples: LOAD_SAMPLES_MAX, span_s: LOAD_WINDOW_S })
    const look = async () => window.add({ at_ms: sources.clock.monotonic_ms(), value: await workDone(sources) })
    return {
      async collect() {
        await look()
        // A load needs two looks, and the first caller wants an answer.
        if (window.ends(0) === undefined) await sources.clock.sleep(LOAD_PAUSE_S * 1000).then(look)
        return loadOf(window)
      },
    }
  },
}

function loadOf(window: Window<readonly number[]>): object {
  const ends = window.ends(0)
  if (ends === undefined) throw new CollectorFailure('The load is not known before two looks')
  const [oldest, newest] = ends
  const elapsed_s = (newest.at_ms - oldest.at_ms) / 1000
  const [cpu_total = 0, ...cpus] = newest.value.map(
    (work, cpu) => (work - (oldest.value[cpu] ?? work)) / (elapsed_s * TICKS_PER_S),
  )
  return { cpu_number: cpus.length, cpus, cpu_total }
}

const IDLE = 3

/** Non-idle ticks of the processors: the sum first, then each one. */
async function workDone(sources: NodeSources): Promise<readonly number[]> {
  const lines = (await readSource(sources, '/proc/stat')).split('\n').filter((line) => line.startsWith('cpu'))
  if (lines.length === 0) throw new CollectorFailure('/proc/stat tells of no processor')
  return lines.map((line) => {
    const counts = line.split(/\s+/).slice(1).map(Number)
    return counts.reduce((sum, count, at) => (at === IDLE ? sum : sum + count), 0)
  })
}
