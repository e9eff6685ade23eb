// Answers the requests of /3 to the master, inside luxid. Each call first finds out who asks, and what that caller may do.
import { clusterInfo } from '../query/cluster-info'
import { ALLOCATORS_SECTION, defaultAllocators } from '../model/allocators'
import { ECODE, OpPrereqError } from '../model/errors'
import type { GantryMaster, Identity } from '../rpc/luxi/gantry'
import { type Access, forbidden, OUTSIDE } from './access/access'
import { AllocationService } from './allocation'
import type { EventService } from './events/events'
import { deleteFilter, replaceFilter } from './filter-rules'
import { jobCalls } from './jobs/job-calls'
import { markedView } from './jobs/job-views'
import type { JobService } from './jobs/jobs'
import type { MasterContext } from './master-context'
import { Measures } from './live-data/measures'
import { Plans } from './jobs/plans'
import type { QueryService } from './views/queries'
import { Submissions } from './jobs/submissions'
import { type GantryDocument, TokenService } from './access/tokens'
import { view } from './views/views'

export interface GantryParts {
  readonly jobs: JobService
  readonly queries: QueryService
  readonly events: EventService
  readonly documents: GantryDocument
}

export function localGantry(context: MasterContext, parts: GantryParts): GantryMaster {
  const tokens = new TokenService(context, parts.documents)
  const plans = new Plans(context)
  const measures = new Measures(context)
  const submissions = new Submissions(context, parts.jobs, plans)
  const allocation = new AllocationService(context, { plans, submissions, jobs: parts.jobs })
  const access = (identity: Identity): Access => tokens.access(identity)

  return {
    view: async (identity, request) => view(access(identity), request, parts.queries.source(markedView), context.known),
    async cluster(identity) {
      const caller = access(identity)
      caller.need('cluster.info')
      const config = caller.known(context.config())
      const { uuid, serial_no, ctime, mtime } = config.cluster
      const default_iallocators = defaultAllocators(context.gantry().sections[ALLOCATORS_SECTION] ?? {})
      const more = { drained: context.queue.drained, default_iallocators }
      return { ...clusterInfo(config), uuid, serial_no, ctime, mtime, ...more }
    },
    submit: async (identity, request) => submissions.submit(access(identity), request),
    plan: async (identity, request) => plans.make(access(identity), request),
    balance: async (identity, request, wait_s, signal) =>
      allocation.balance(access(identity), request, { wait_s, signal }),
    capacity: async (identity, request, wait_s, signal) =>
      allocation.capacity(access(identity), request, { wait_s, signal }),
    whatIf: async (identity, request, wait_s, signal) =>
      allocation.whatIf(access(identity), request, { wait_s, signal }),
    ...jobCalls(context, parts.jobs, access),
    events: (identity, request) => parts.events.read(() => access(identity), request),
    async metrics(identity) {
      access(identity).need('cluster.info')
      return measures.told()
    },
    identify: async (secret) => tokens.identify(secret),
    tokens: async (identity) => tokens.list(identity),
    addToken: (identity, token) => tokens.add(identity, token),
    removeToken: (identity, id) => tokens.remove(identity, id),
    async replaceFilter(identity, ...rule) {
      const [uuid] = rule
      const isThere = uuid !== null && Object.hasOwn(context.config().filters, uuid)
      mayRule(access(identity), isThere ? 'filter.modify' : 'filter.create')
      return replaceFilter(context, identity.user, ...rule)
    },
    async deleteFilter(identity, uuid) {
      mayRule(access(identity), 'filter.remove')
      if (!Object.hasOwn(context.config().filters, uuid))
        throw new OpPrereqError(`There is no filter ${uuid}`, ECODE.NOENT)
      return deleteFilter(context, identity.user, uuid)
    },
    park: () => context.queue.park(),
  }
}

/** Rules are about the jobs of everybody. */
function mayRule(access: Access, permission: string): void {
  access.need(permission)
  if (access.limited) throw forbidden(OUTSIDE)
}
