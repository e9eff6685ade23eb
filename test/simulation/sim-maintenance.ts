// The maintenance daemon of a simulated cluster, nodes that fall ill, and an administrator who heals, cancels and acknowledges.
import { countedTemplate } from '../../src/model/templates'
import { recordValues } from '../../src/config/records'
import { sha1Hmac } from '../../src/lib/hmac'
import { Claims } from '../../src/maintenance/claims'
import { FailedMoves } from '../../src/maintenance/failed-moves'
import { MaintenanceLoop } from '../../src/maintenance/loop'
import { StateStore } from '../../src/maintenance/state-store'
import { planRound } from '../../src/maintenance/plan-round'
import { Rounds } from '../../src/maintenance/rounds'
import { NodeWatch } from '../../src/maintenance/watch-nodes'
import { findInstance } from '../../src/config/lookup'
import type { GantryData } from '../../src/model/config'
import { MAINTENANCE, MAINTENANCE_DEFAULTS } from '../../src/model/maintenance'
import { clusterPicture } from '../../src/operations/plan/picture'
import { LuxiClient } from '../../src/rpc/luxi/client'
import { MondFailure } from '../../src/rpc/mond/client'
import type { NodeClient } from '../../src/rpc/node/client'
import { openWconfd } from '../../src/rpc/wconfd/client'
import { followConfig } from '../../src/rpc/wconfd/follow'
import { openLog } from './sim-log'
import type { SimCluster } from './sim-cluster'
import type { SimProcess } from './simulator'

const KEY = 'the key of the cluster'

/** All that acts is on. */
export const MAINTAINED: GantryData = {
  ...{ version: 1, serial_no: 1 },
  sections: {
    [MAINTENANCE.settings]: {
      ...{ ...MAINTENANCE_DEFAULTS, evacuation: true, live_repair: true, harep: true, balance: true },
      // Nodes of the simulation copy no disks, and are taken back while they are drained.
      ...{ diagnose_command: 'check', round_delay: 5, evacuation_disks: false, evacuation_offline: false },
    },
  },
}

/** What the nodes say of themselves, by name. */
export type Verdicts = Map<string, Record<string, unknown>>

export async function startMaintenance(
  cluster: SimCluster,
  process: SimProcess,
  nodes: NodeClient,
): Promise<{ close(): Promise<void> }> {
  const { clock } = process
  const { paths } = cluster.master
  const { random } = cluster.simulator
  const log = openLog(process)
  const listeners = new Set<() => unknown>()
  const follower = await followConfig(paths.socket('wconfd'), { clock, log }, (_, delta) => {
    for (const listener of listeners) listener()
    if (delta?.gantry !== undefined && MAINTENANCE.events in delta.gantry.sections) keeper.soon()
  })
  const wconfd = openWconfd({ path: paths.socket('wconfd'), clock, random })
  const master = new LuxiClient({ path: paths.socket('query'), clock })
  const config = () => follower.current()
  const memory = new StateStore({
    ...{ wconfd, clock, gantry: () => follower.gantry() },
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  })
  const watch = new NodeWatch({
    ...{ memory, clock, random, config, key: async () => KEY },
    ask: async ({ name }) => {
      const machine = cluster.machine(name)
      if (!machine.up) throw new MondFailure('silent', 'no answer')
      const timestamp = Math.round(cluster.simulator.wall_ms(name) * 1e6)
      const data = cluster.verdicts.get(name) ?? { status: 'Ok' }
      const msg = JSON.stringify({ node: name, report: { timestamp, data } })
      const salt = String(timestamp)
      return { text: JSON.stringify({ signed: { msg, salt, hmac: sha1Hmac(KEY, msg, salt) } }), date_ms: undefined }
    },
  })
  const failedMoves = new FailedMoves(clock, config)
  const rounds = new Rounds({
    ...{ memory, master, clock, random, log, failedMoves, claims: new Claims() },
    tagsOf: (name) => findInstance(config(), name)?.tags ?? [],
    async plan({ events }, settings) {
      const now = config()
      const { data, options } = await clusterPicture(nodes, now, countedTemplate(now.cluster))
      const names = Object.fromEntries(recordValues(now.nodes).map(({ uuid, name }) => [uuid, name]))
      const question = {
        events,
        names,
        settings,
        now_s: clock.now_ms() / 1000,
        jobs: [],
        loads: null,
        busy: [],
        resting: failedMoves.resting(),
        master: '',
      }
      return planRound(data, question, options)
    },
  })
  const keeper = new MaintenanceLoop({ memory, rounds, watch, clock, log })
  keeper.start()
  return {
    async close() {
      keeper.close()
      follower.close()
      wconfd.close()
      master.close()
    },
  }
}
