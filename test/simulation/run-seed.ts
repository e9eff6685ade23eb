// One run of the simulation: users at work, faults, then peace, and what must hold then.
import { Administrator } from './administrator'
import { Auditor } from './auditor'
import { Caretaker } from './caretaker'
import { Faults } from './faults'
import { Ledger } from './ledger'
import { SimCluster } from './sim-cluster'
import type { SimMachine } from './sim-machine'
import { Simulator } from './simulator'
import { User } from './users'

const USERS = 4
const START_S = 5
const TROUBLE_S = 60
/** A call whose answer was lost is given up after an hour by the job that waits for it. */
const REST_S = 3 * 3600
/** Messages to the candidates arrive, and the last checkpoints are written. */
const SETTLE_S = 60
/** Runs of the watcher in peace, after which all runs that should. */
const RUNS_AFTER = 3

export interface Run {
  readonly complaints: readonly string[]
  /** The events in order; empty without tracing. */
  readonly trace: readonly string[]
  /** How many opcodes of each kind were done, and how many failed. */
  readonly ops: Readonly<Record<string, readonly [done: number, failed: number]>>
}

export async function runSeed(seed: number, tracing = false): Promise<Run> {
  // Nobody reads the stacks of thousands of failures that are meant.
  if (!tracing) Error.stackTraceLimit = 0
  const simulator = new Simulator(seed, tracing)
  const ledger = new Ledger(simulator)
  const cluster = await SimCluster.create(simulator, ledger)
  const auditor = new Auditor(cluster, ledger, simulator.process('auditor', 'outside'))
  await simulator.run(START_S)
  const users = Array.from(
    { length: USERS },
    (_, index) => new User(`user${index + 1}`, simulator.process(`user${index + 1}`, 'outside'), cluster, ledger),
  )
  const administrator = new Administrator(simulator.process('administrator', 'outside'), cluster)
  const faults = new Faults(cluster, auditor)
  const end_ms = simulator.time_ms + TROUBLE_S * 1000
  while (simulator.time_ms < end_ms) {
    await simulator.run(simulator.between(0.2, 6))
    await faults.strike()
  }
  simulator.note('PEACE', 'no more faults')
  faults.end()
  for (const user of users) user.stop()
  administrator.stop()
  const haveStopped = () => administrator.stopped && users.every(({ state }) => state.endsWith('stopped'))
  const isAway = ({ up, noded }: SimMachine) => !up || noded?.process.isStopped === true
  /** While a machine is off or its node daemon stopped, no run can start its instances; and while users have jobs, none comes to verify their disks. */
  let whole_ms = simulator.time_ms
  const lookedOften = () => {
    if (!haveStopped() || [...cluster.machines.values()].some(isAway)) whole_ms = simulator.time_ms
    return cluster.watcher.looks_ms.filter((time_ms) => time_ms > whole_ms).length >= RUNS_AFTER
  }
  const atRest = await simulator.run(REST_S, () => lookedOften() && auditor.unrest === undefined)
  if (!atRest)
    ledger.complain(
      `no rest: ${auditor.unrest ?? ''} ${users.map(({ state }) => state).join('; ')} ${cluster.failures.slice(-3).join('; ')}`,
    )
  cluster.watcher.stop()
  cluster.mirrors.quiet()
  await endMaintenance(simulator, cluster, auditor)
  const caretaker = new Caretaker(simulator.process('caretaker', 'outside'), cluster, ledger, () => auditor.mirrored())
  const working = caretaker.work()
  let done = false
  void working.finally(() => (done = true))
  if (!(await simulator.run(REST_S, () => done))) ledger.complain('what verify says cannot be done in time')
  await simulator.run(SETTLE_S)
  let observed = false
  void cluster.mirrors.lookAtAll().then(() => (observed = true))
  await simulator.run(SETTLE_S, () => observed)
  await auditor.checkAtRest()
  return { complaints: ledger.complaints, trace: simulator.trace, ops: Object.fromEntries(ledger.ops) }
}

/** A round that was written down just when its daemon ended is for the next one. */
async function endMaintenance(simulator: Simulator, cluster: SimCluster, auditor: Auditor): Promise<void> {
  for (let again = 0; again < 3; again++) {
    cluster.endMaintenance()
    await simulator.run(SETTLE_S)
    if (!(await auditor.hasOpenRound())) return
    cluster.resumeMaintenance()
    await simulator.run(SETTLE_S)
  }
}
