// Starts maintd with all that it needs.
import * as path from 'node:path'
import { countedTemplate } from '../model/templates'
import type { ClusterData } from '../allocation/model/cluster-data'
import { toParts } from '../allocation/questions/question-parts'
import { findInstance } from '../config/lookup'
import { recordGet, recordValues } from '../config/records'
import { passwordsOf } from '../daemons/rapi/auth'
import { LoginThrottle } from '../daemons/rapi/login-throttle'
import { UsersFile } from '../daemons/rapi/users'
import { logins } from '../daemons/rapi/v3/identity'
import { CHALLENGE, problemOf } from '../daemons/rapi/v3/problem'
import { startMaintd } from '../daemons/maintd/server'
import { systemClock as clock } from '../lib/clock'
import { systemFiles as files } from '../lib/files'
import { type LockFile, openFailure } from '../lib/file/lock'
import type { Log } from '../lib/log'
import type { Paths } from '../lib/paths'
import { systemRandom as random } from '../lib/random'
import { WorkerPool } from '../lib/work/worker-pool'
import { Claims } from '../maintenance/claims'
import { FailedMoves } from '../maintenance/failed-moves'
import { InstanceCare } from '../maintenance/instance-care'
import { MaintenanceLoop } from '../maintenance/loop'
import { StateStore, type Remembered } from '../maintenance/state-store'
import { jobsInTags } from '../maintenance/plan-repairs'
import type { RoundPlan, RoundQuestion } from '../maintenance/plan-round'
import { Rounds } from '../maintenance/rounds'
import { NodeWatch } from '../maintenance/watch-nodes'
import { type Group, watchGroup } from '../maintenance/watcher/group-run'
import { unlessKeptOut } from '../maintenance/watcher/watcher'
import { EMPTY_GANTRY } from '../config/upgrade'
import { ROUND_PLAN_MEMORY_MIB, ROUND_PLAN_S, ROUND_THREAD_IDLE_S } from '../model/limits/maintenance'
import { MAINTENANCE, type MaintenanceSettings, maintenanceView } from '../model/maintenance'
import { ownedDisk as disk, ownedLockFile } from '../model/owners'
import { LuxiClient } from '../rpc/luxi/client'
import type { Identity } from '../rpc/luxi/gantry'
import { defaultSimSocket } from '../rpc/node/sim-socket'
import { openMonds } from '../rpc/mond/endpoints'
import { openWconfd } from '../rpc/wconfd/client'
import { followConfig } from '../rpc/wconfd/follow'
import { masterNodes } from './master'
import { listenAddress } from './own-address'
import type { ConfigData } from '../model/config'
import type { Master } from '../rpc/luxi/master'
import type { NodeClient } from '../rpc/node/client'
import type { Start } from './start'

export const start: Start = async (surroundings) => {
  const { paths, log, options } = surroundings
  const nodes = await masterNodes(surroundings)
  const listeners = new Set<() => void>()
  const follower = await followConfig(paths.socket('wconfd'), { clock, log }, (_, delta) => {
    for (const listener of listeners) listener()
    const changed = delta === null || delta.gantry === undefined ? {} : delta.gantry.sections
    if (MAINTENANCE.settings in changed || MAINTENANCE.events in changed) keeper.soon()
  })
  const config = () => follower.current()
  const master = new LuxiClient({ path: paths.socket('query'), clock })
  const wconfd = openWconfd({ path: paths.socket('wconfd'), clock, random })
  const memory = new StateStore({
    ...{ wconfd, clock, gantry: () => follower.gantry() },
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  })
  const watch = new NodeWatch({
    ...{ memory, clock, random, config, ask: openMonds(paths, files) },
    key: async () => (await disk.read(paths.hmacKey))?.toString('utf8') ?? '',
  })
  const [claims, failedMoves] = [new Claims(), new FailedMoves(clock, config)]
  const planner = openPlanner({ config, nodes, master, watch, claims, failedMoves })
  const tagsOf = (name: string) => findInstance(config(), name)?.tags ?? []
  const rounds = new Rounds({ memory, master, clock, random, log, claims, failedMoves, plan: planner.plan, tagsOf })
  const keeper = new MaintenanceLoop({ memory, rounds, watch, clock, log })
  const users = new UsersFile(paths.rapiUsers, { files, random, log })
  users.refresh()
  const turns = new LoginThrottle(clock, log)
  const { gantry } = master
  const maintd = await startMaintd({
    ...{ log, clock, random, files, gantry, challenge: CHALLENGE, figures: keeper.figures },
    ...{
      certificate: { key: paths.rapiCert, cert: paths.rapiCert },
      accessLog: options.accessLog,
      port: options.port,
    },
    addresses: options.bind ?? [await listenAddress(paths)],
    view: () => maintenanceView(follower.gantry() ?? EMPTY_GANTRY, (uuid) => recordGet(config().nodes, uuid)?.name),
    logins: logins({ gantry, users, passwords: passwordsOf(users, turns), turns }),
    problemOf: (error) => problemOf(error, log),
  })
  keeper.start()
  const care = openCare({ paths, log, master, memory, claims, config })
  care.start()
  return {
    async close() {
      keeper.close()
      care.close()
      await maintd.close()
      await planner.close()
      follower.close()
      wconfd.close()
    },
    reload: () => users.refresh(true),
  }
}

interface CareSources {
  readonly paths: Paths
  readonly log: Log
  readonly master: LuxiClient
  readonly memory: StateStore
  readonly claims: Claims
  config(): ConfigData
}

/** A script of root may have made the lock that keeps watchers out. Who cannot open it goes on, as long as root's watcher is there. */
const lockFile: LockFile = async (file, mode, wait_s) => {
  const held = await ownedLockFile(file, mode, wait_s)
  if (held !== undefined || mode !== 'shared' || openFailure(file) === undefined) return held
  return { release: () => undefined }
}

function openCare({ paths, log, master, memory, claims, config }: CareSources): InstanceCare {
  const { gantry } = master
  const groupsNow = (): Group[] => {
    const known = recordValues(config().nodegroups)
    return known.map(({ uuid, name }) => ({ uuid, name, known: known.map((one) => one.uuid) }))
  }
  const surroundings = { disk, paths, clock, log, master, claims, by: 'maintd', lockFile } as const
  const simSocket = defaultSimSocket(paths)
  return new InstanceCare({
    ...{ clock, log, groups: groupsNow },
    groupOf(name) {
      const node = findInstance(config(), name)?.primary_node
      return node === undefined ? undefined : recordGet(config().nodes, node)?.group
    },
    events: (after, timeout_s) =>
      gantry.events(OURSELVES, { after, timeout_s, types: ['instance', 'watcher'], objects: [] }),
    async watch(group, options) {
      const { restart, dry_run } = memory.settings()
      // Simulated nodes keep what was recorded.
      const isSimulated = simSocket !== undefined && files.existsSync(simSocket)
      if (!restart || dry_run || isSimulated) return undefined
      return unlessKeptOut(surroundings, () => watchGroup(group, options, surroundings))
    },
    tell: (report) => gantry.watched(report),
  })
}

const OURSELVES: Identity = { user: 'maintd', token: null, permissions: ['events.query'] }

interface Sources {
  config(): ConfigData
  readonly nodes: NodeClient
  readonly master: Pick<Master, 'queryJobs'>
  readonly watch: NodeWatch
  readonly claims: Claims
  readonly failedMoves: FailedMoves
}

/** Plans are made in a thread, from the nodes' current answers. */
function openPlanner({ config, nodes, master, watch, claims, failedMoves }: Sources) {
  const threads = new WorkerPool({
    ...{ entry: path.join(__dirname, '../maintenance-thread.js'), clock, threads: 1 },
    ...{ limit_s: ROUND_PLAN_S, idle_s: ROUND_THREAD_IDLE_S, memory_mib: ROUND_PLAN_MEMORY_MIB },
  })
  const statusesIn = async (data: ClusterData): Promise<(readonly [number, string])[]> => {
    const ids = jobsInTags(data)
    const rows = ids.length === 0 ? [] : await master.queryJobs(ids, ['status'])
    return rows.flatMap((row, at) => (typeof row?.[0] === 'string' ? [[ids[at] ?? 0, row[0]] as const] : []))
  }
  const plan = async ({ events }: Remembered, settings: MaintenanceSettings): Promise<RoundPlan> => {
    // Without anything to decide, no node is asked.
    if (events.length === 0 && !settings.harep && !settings.balance) return { jobs: [], notes: [] }
    const now = config()
    const { clusterPicture } = await import('../operations/plan/picture.js')
    const { data, options: allocation } = await clusterPicture(nodes, now, countedTemplate(now.cluster))
    const names = events.flatMap(({ node }) => {
      const name = recordGet(now.nodes, node)?.name
      return name === undefined ? [] : [[node, name] as const]
    })
    const question: RoundQuestion = {
      ...{ events, names: Object.fromEntries(names), settings, now_s: clock.now_ms() / 1000 },
      jobs: settings.harep ? await statusesIn(data) : [],
      ...{
        busy: claims.busy(),
        resting: failedMoves.resting(),
        master: recordGet(now.nodes, now.cluster.master_node)?.name ?? '',
      },
      loads: settings.balance_load ? await watch.loads(data.nodes.map(({ name }) => name)) : null,
    }
    // The thread is ours.
    return (await threads.run(toParts({ data, question, options: allocation }))) as RoundPlan
  }
  return { plan, close: () => threads.close() }
}
