// Replaces a job's environment for a plan, so that operations leave no trace.
import { slice } from '../../config/slice'
import type { Clock } from '../../lib/clock'
import type { ConfigData } from '../../model/config'
import { PLAN_SLEEPS_MAX } from '../../model/limits/plans'
import type { ClientId, LockMode } from '../../model/lock'
import type { WireOpCode } from '../../rpc/luxi/calls'
import type { LockName, UnitWconfd } from '../../rpc/wconfd/calls'
import type { JobEnvironment } from '../environment'
import { PlanEnd } from './end'
import { planNodes } from './nodes'
import { noted } from './reading'
import type { PlanState } from './state'

const CLIENT: ClientId = ['plan', '', 0]

export function planEnvironment(state: PlanState, op: WireOpCode): JobEnvironment {
  const { random, paths, log } = state.facts
  return {
    ...{ jobId: 0, opIndex: 0, client: CLIENT, secrets: {}, random, paths, processLog: log.child({ plan: op.OP_ID }) },
    priority: () => 0,
    onPriority: () => () => undefined,
    wconfd: planWconfd(state),
    nodes: planNodes(state),
    log: (_type, message) => void state.messages.push(String(message)),
    note: () => undefined,
    started: async () => undefined,
    retrying: async () => undefined,
    cancelled: new AbortController().signal,
    clock: hastyClock(state),
    ...(state.facts.masterFile && { masterFile: state.facts.masterFile }),
    submitJobs: async (jobs) => {
      state.submitted(jobs)
      return jobs.map(() => [true, 0])
    },
  }
}

function planWconfd(state: PlanState): UnitWconfd {
  const { reservations: own } = state
  const read = (config: ConfigData) => noted(config, (object) => state.note(object))
  const take = (locks: readonly (readonly [LockName, LockMode])[]): LockName[] => {
    for (const [name, mode] of locks) state.lock(name, mode)
    return locks.map(([name]) => name)
  }
  return {
    readConfig: async () => read(state.config),
    gantryRead: async (selector) => read(slice(state.config, selector)),
    gantrySection: async (section) => state.gantry.sections[section] ?? {},
    gantryChange: async (_client, _epoch, changes) => state.change(changes),
    async gantryAcquire(_client, _priority, request) {
      for (const [name, mode] of request) if (mode !== 'release') state.lock(name, mode)
      return { epoch: 0 }
    },
    opportunisticLockUnion: async (_client, locks) => take(locks),
    guardedOpportunisticLockUnion: async (_count, _client, locks) => take(locks),
    tryUpdateLocks: async () => [],
    updateLocksWaiting: async () => [],
    gantryCancelRequest: async () => null,
    gantryBlockers: async () => [],
    gantryFreeAll: async () => null,
    freeLocksLevel: async () => null,
    downGradeLocksLevel: async () => null,
    listAllLocksOwners: async () => [],
    flushConfig: async () => null,
    gantryReplicas: async () => [],
    reserveMAC: async (client, mac) => nothing(own.reserveMac(client, mac)),
    generateMAC: async (client, network) => own.generateMac(client, network),
    reserveIp: async (client, network, ip, external) => nothing(own.reserveIp(client, network, ip, external)),
    generateIp: async (client, network) => own.generateIp(client, network),
    generateDRBDSecret: async (client) => own.generateSecret(client),
    reserveLV: async (client, volume) => nothing(own.reserveVolume(client, volume)),
    computeDRBDMap: async () => own.drbdMap(),
    gantryReserveMinors: async (client, disk, nodes) => own.allocateMinorsFor(client, disk, nodes),
  }
}

const nothing = (_done: void): null => null

/** A clock without waiting: a wait for nodes ends at once, as often as a plan has patience. */
function hastyClock(state: PlanState): Clock {
  const { clock } = state.facts
  let [ahead_ms, sleeps] = [0, 0]
  return {
    now_ms: () => clock.now_ms() + ahead_ms,
    monotonic_ms: () => clock.monotonic_ms() + ahead_ms,
    after: () => ({ cancel: () => undefined }),
    async sleep(delay_ms) {
      if (++sleeps > PLAN_SLEEPS_MAX) throw state.endsWith(new PlanEnd('a wait for what only nodes can do'))
      ahead_ms += delay_ms
    },
  }
}
