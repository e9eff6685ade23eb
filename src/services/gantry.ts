// Answers the requests of /3 to the master, inside luxid. Each call first determines the caller and its rights.
import { clusterInfo } from '../query/cluster-info'
import { ALLOCATORS_SECTION, defaultAllocators } from '../model/allocators'
import { ECODE, OpPrereqError } from '../model/errors'
import { PATH } from '../model/constants/paths'
import { maintenanceInfo } from '../model/maintenance'
import type { JsonObject } from '../lib/shapes/shape'
import type { ConsoleRequest } from '../rpc/luxi/consoles'
import type { Identity } from '../rpc/luxi/gantry'
import { callersCallNames, type CallersCallName, gantryCalls, type GantryMaster } from '../rpc/luxi/gantry-calls'
import { type Access, forbidden, OUTSIDE } from './access/access'
import { tellingFor, toldError } from './access/hidden-names'
import { rightsOf } from './access/rights'
import type { AuthorizedHandlers } from './authorized-handlers'
import { AllocationService } from './allocation'
import { ConsoleService } from './consoles/consoles'
import type { EventService } from './events/events'
import { deleteFilter, replaceFilter } from './filter-rules'
import { jobCalls } from './jobs/job-calls'
import { markedView } from './jobs/job-views'
import type { JobService } from './jobs/jobs'
import type { MasterContext } from './master-context'
import { Measures } from './live-data/measures'
import { MaintenanceService } from './maintenance'
import { HistoryService } from './monitoring/histories'
import { MonitoringService } from './monitoring/monitoring'
import { NodeReports } from './monitoring/node-reports'
import { Plans } from './jobs/plans'
import type { QueryService } from './views/queries'
import { shownSnapshots } from './snapshots'
import { Submissions } from './jobs/submissions'
import { type GantryDocument, TokenService } from './access/tokens'
import { storageOf } from './views/storage-view'
import { tagUses } from './views/tags-view'
import { view } from './views/views'
import type { WatcherPause } from './watcher/watcher-pause'
import type { WatcherReports } from './watcher/watcher-reports'

export interface GantryParts {
  readonly jobs: JobService
  readonly queries: QueryService
  readonly events: EventService
  readonly documents: GantryDocument
  readonly watcher: WatcherReports
  readonly pause: WatcherPause
}

export function localGantry(context: MasterContext, parts: GantryParts): GantryMaster {
  const tokens = new TokenService(context, parts.documents)
  const callerOf = (name: CallersCallName, identity: Identity): Access => {
    const caller = tokens.access(identity)
    const { needs, forEverybody } = gantryCalls[name]
    if (needs !== null) caller.need(needs)
    if (forEverybody && caller.limited) throw forbidden(OUTSIDE)
    return caller
  }
  const handlers = callersHandlers(context, parts, { tokens, callerOf })
  const serve =
    (name: CallersCallName) =>
    async (identity: Identity, ...args: unknown[]) => {
      // The compiler cannot see that arguments and handler belong to the same call.
      const handler = handlers[name] as (caller: Access, ...args: unknown[]) => unknown
      const caller = callerOf(name, identity)
      try {
        return await handler(caller, ...args)
      } catch (error) {
        throw toldError(tellingFor(caller, context.config()), error, args)
      }
    }
  return {
    // The table has every name of the interface.
    ...(Object.fromEntries(callersCallNames.map((name) => [name, serve(name)])) as unknown as CallersCalls),
    identify: async (secret) => tokens.identify(secret),
    watched: (report) => parts.watcher.watched(report),
    queueCopies: async () => [...(context.queueCopies?.() ?? [])],
    park: () => context.queue.park(),
  }
}

type CallersCalls = Pick<GantryMaster, CallersCallName>

interface Doorkeeper {
  readonly tokens: TokenService
  callerOf(name: CallersCallName, identity: Identity): Access
}

function callersHandlers(
  context: MasterContext,
  parts: GantryParts,
  { tokens, callerOf }: Doorkeeper,
): AuthorizedHandlers {
  const plans = new Plans(context)
  const measures = new Measures(context)
  const monitoring = new MonitoringService({ ...context, reports: new NodeReports({ ...context, ask: context.monds }) })
  const histories = new HistoryService({
    ...{ ...context, ask: context.monds },
    formerNodes: ({ uuid }) => parts.events.formerNodes(uuid),
  })
  const submissions = new Submissions(context, parts.jobs, plans)
  const maintenance = new MaintenanceService(context, submissions)
  const allocation = new AllocationService(context, { plans, submissions, jobs: parts.jobs })
  return {
    view: (caller, request) => view(caller, request, parts.queries.source(markedView), context.known),
    async cluster(caller) {
      const config = caller.known(context.config())
      const { uuid, serial_no, ctime, mtime } = config.cluster
      const default_iallocators = defaultAllocators(context.gantry().sections[ALLOCATORS_SECTION] ?? {})
      const { disk, paths } = context
      const user_space_storage = paths.root !== '' && (await disk.list(paths.local(PATH.USER_VOLUMES_DIR))).length > 0
      const more = { drained: context.queue.drained, default_iallocators, user_space_storage }
      return { ...clusterInfo(config), ...maintenanceInfo(context.gantry()), uuid, serial_no, ctime, mtime, ...more }
    },
    submit: (caller, request) => submissions.submit(caller, request),
    plan: (caller, request) => plans.make(caller, request),
    balance: (caller, request, wait_s, signal) => allocation.balance(caller, request, { wait_s, signal }),
    capacity: (caller, request, wait_s, signal) => allocation.capacity(caller, request, { wait_s, signal }),
    whatIf: (caller, request, wait_s, signal) => allocation.whatIf(caller, request, { wait_s, signal }),
    ...jobCalls(context, parts.jobs),
    // Checked again after each wait: the token may have been revoked meanwhile.
    events: (caller, request) => parts.events.read(() => callerOf('events', caller.identity), request),
    pastEvents: (caller, request) => parts.events.past(caller, request),
    metrics: async (caller) => (caller.limited ? null : [parts.watcher.measures(), ...(await measures.told())]),
    monitoring: (_caller, request) => monitoring.page(request),
    measuredNodes: (caller) => monitoring.measured(caller),
    nodeHistory: (_caller, name, since_s) => histories.node(name, since_s),
    instanceHistory: (caller, name, since_s) => histories.instance(caller, name, since_s),
    ...wholeClusterCalls(context, parts),
    storage: (caller, name) => storageOf(context, caller.known(context.config()), name),
    tags: (caller) => tagUses(caller.known(context.config())),
    ...consoleCalls(new ConsoleService(context, parts.documents, (identity) => callerOf('console', identity))),
    snapshots: (caller, name) =>
      shownSnapshots(context.questions, caller.known(context.config()), context.gantry(), name),
    rights: (caller) => rightsOf(caller, context.config()),
    tokens: (caller) => tokens.list(caller),
    addToken: (caller, token) => tokens.add(caller, token),
    removeToken: (caller, id) => tokens.remove(caller, id),
    ...maintenanceCalls(maintenance),
    ...ruleCalls(context),
  }
}

const wholeClusterCalls = (context: MasterContext, parts: GantryParts) => ({
  watcher: () => parts.watcher.info(),
  async pauseWatcher(_caller: Access, until: number | null) {
    await parts.pause.set(until)
    return parts.watcher.info()
  },
  async drainQueue(_caller: Access, drained: boolean) {
    await context.queue.setDrained(drained)
    return null
  },
  users: () => null,
})

const ruleCalls = (context: MasterContext): Pick<AuthorizedHandlers, 'replaceFilter' | 'deleteFilter'> => ({
  replaceFilter(caller, uuid, priority, predicates, action, reason) {
    const isThere = uuid !== null && Object.hasOwn(context.config().filters, uuid)
    caller.need(isThere ? 'filter.modify' : 'filter.create')
    return replaceFilter(context, caller.identity.user, uuid, priority, predicates, action, reason)
  },
  deleteFilter(caller, uuid) {
    if (!Object.hasOwn(context.config().filters, uuid))
      throw new OpPrereqError(`There is no filter ${uuid}`, ECODE.NOENT)
    return deleteFilter(context, caller.identity.user, uuid)
  },
})

const consoleCalls = (consoles: ConsoleService) => ({
  consoles: (caller: Access, name: string) => consoles.choices(caller, name),
  console: (caller: Access, request: ConsoleRequest) => consoles.open(caller, request),
})

const maintenanceCalls = (maintenance: MaintenanceService) => ({
  maintenance: () => maintenance.view(),
  cancelRepair: (caller: Access, id: string) => maintenance.cancel(caller, id),
  acknowledgeRepair: (caller: Access, id: string) => maintenance.acknowledge(caller, id),
  setMaintenance: (caller: Access, settings: JsonObject) => maintenance.set(caller, settings),
})
