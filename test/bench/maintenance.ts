// The plan of a round of maintenance for a large cluster, in the thread that maintd has for it, and how long it holds up its event loop.
import * as path from 'node:path'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { ALLOC_DEFAULTS } from '../../src/allocation/model/options'
import { toParts } from '../../src/allocation/questions/question-parts'
import { parseClusterText } from '../../src/allocation/sources/text-format'
import { systemClock } from '../../src/lib/clock'
import { WorkerPool } from '../../src/lib/work/worker-pool'
import type { RoundPlan, RoundQuestion } from '../../src/maintenance/plan-round'
import { ROUND_PLAN_MEMORY_MIB, ROUND_PLAN_S } from '../../src/model/limits/maintenance'
import { MAINTENANCE_DEFAULTS, READY_TAG, REPAIR_ACTIONS, type RepairEvent } from '../../src/model/maintenance'
import { clusterOf } from '../support/htools'
import type { Report } from './table'

const [NODES, INSTANCES, EVENTS, PLANS] = [1000, 10_000, 50, 10]

export async function measureRounds(report: Report): Promise<void> {
  const raw = parseClusterText(clusterOf(1, NODES, INSTANCES))
  // Half of the nodes with events are drained already, so that their instances leave.
  const nodes = raw.nodes.map((node, at) => (at < EVENTS / 2 ? { ...node, offline: true, unusable: 'drained' } : node))
  const data = { ...raw, nodes }
  const events = nodes.slice(0, EVENTS).map(({ name }, n): RepairEvent => {
    const action = REPAIR_ACTIONS[n % 3] ?? 'evacuate'
    return {
      ...{ id: `e${n}`, node: name, action, status: 'noted', original: { status: action, command: 'mend' } },
      ...{ jobs: [], tag: `${READY_TAG}e${n}`, tagged: false, note: null, ctime: n, mtime: n, serial_no: 1 },
    }
  })
  const settings = { ...MAINTENANCE_DEFAULTS, evacuation: true, live_repair: true, harep: true, balance: true }
  const names = Object.fromEntries(nodes.map(({ name }) => [name, name]))
  const question: RoundQuestion = {
    events,
    names,
    settings,
    now_s: 1,
    jobs: [],
    loads: null,
    busy: [],
    resting: [],
    master: '',
  }
  const pool = new WorkerPool({
    ...{ entry: path.join(__dirname, '../../dist/maintenance-thread.js'), clock: systemClock },
    ...{ threads: 1, limit_s: ROUND_PLAN_S, memory_mib: ROUND_PLAN_MEMORY_MIB },
  })
  const what = `${NODES} nodes, ${INSTANCES} instances, ${EVENTS} events`
  const held = monitorEventLoopDelay({ resolution: 1 })
  held.enable()
  for (let n = 0; n < PLANS; n++) {
    const begun_ms = performance.now()
    // The thread is ours.
    const plan = (await pool.run(toParts({ data, question, options: ALLOC_DEFAULTS }))) as RoundPlan
    if (n === 0) report(`maintenance, first plan of a round: ${what}`, performance.now() - begun_ms, 'ms')
    if (n === PLANS - 1) {
      report(`maintenance, plan of a round: ${what}`, performance.now() - begun_ms, 'ms')
      report('maintenance, jobs of that round', plan.jobs.length, '')
    }
  }
  held.disable()
  report('maintenance, longest time that it held up the event loop', held.max / 1e6, 'ms')
  await pool.close()
}
