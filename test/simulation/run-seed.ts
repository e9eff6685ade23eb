// One run of the simulation: users at work, faults, then peace, and what must hold then.
import { Administrator } from './administrator'
import { Auditor } from './auditor'
import { Faults } from './faults'
import { Ledger } from './ledger'
import { SimCluster } from './sim-cluster'
import { Simulator } from './simulator'
import { User } from './users'

const USERS = 4
const START_S = 5
const TROUBLE_S = 60
/** A call whose answer was lost is given up after an hour by the job that waits for it. */
const REST_S = 3 * 3600
/** Runs of the watcher in peace, after which all runs that should: the first may have begun before. */
const RUNS_AFTER = 3

export interface Run {
  readonly complaints: readonly string[]
  /** The events in order; empty without tracing. */
  readonly trace: readonly string[]
}

export async function runSeed(seed: number, tracing = false): Promise<Run> {
  const simulator = new Simulator(seed, tracing)
  const cluster = await SimCluster.create(simulator)
  const ledger = new Ledger(simulator)
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
  const before = cluster.watcher.ended
  const atRest = await simulator.run(
    REST_S,
    () =>
      cluster.watcher.ended > before + RUNS_AFTER &&
      auditor.unrest === undefined &&
      administrator.stopped &&
      users.every(({ state }) => state.endsWith('stopped')),
  )
  if (!atRest)
    ledger.complain(
      `no rest: ${auditor.unrest ?? ''} ${users.map(({ state }) => state).join('; ')} ${cluster.failures.slice(-3).join('; ')}`,
    )
  cluster.watcher.stop()
  cluster.endMaintenance()
  // Lets messages to the candidates arrive, and the last checkpoints be written.
  await simulator.run(60)
  await auditor.checkAtRest()
  return { complaints: ledger.complaints, trace: simulator.trace }
}
