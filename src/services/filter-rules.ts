// Adds, replaces and deletes job filter rules, through wconfd. luxid learns of it as of any change of the
// configuration.
import { nanoseconds } from '../lib/clock'
import type { FilterPredicate, FilterRule, ReasonEntry } from '../model/config'
import { isFilterAction } from '../model/filter-rule'
import { GenericError } from '../model/errors'
import { filterUuid, isUuid } from '../model/ids'
import { parseFilter, refuseWide, serializeFilter } from '../query/filter'
import type { ClientId } from '../rpc/wconfd/calls'
import type { MasterContext } from './master-context'

/** Events name the user. */
const client = (user: string | null): ClientId => [user === null ? 'luxid' : askerOf(user), '', process.pid]

export async function replaceFilter(
  context: MasterContext,
  user: string | null,
  uuid: string | null,
  priority: number,
  predicates: readonly unknown[],
  action: unknown,
  reason: readonly unknown[],
): Promise<string> {
  if (uuid !== null && !isUuid(uuid)) throw new GenericError('Unable to parse UUID')
  if (!isFilterAction(action)) throw new GenericError(`Invalid action of a filter rule: ${JSON.stringify(action)}`)
  const rule: FilterRule = {
    watermark: context.queue.lastJobId,
    priority,
    predicates: predicates.map(normalPredicate),
    action,
    reason_trail: [...reason.filter(isReason), ['luxid', '', nanoseconds(context.clock)]],
    uuid: filterUuid(uuid ?? context.random.uuid()),
  }
  await context.wconfd.gantryChange(client(user), null, [['setFilterRule', rule]])
  return rule.uuid
}

export async function deleteFilter(context: MasterContext, user: string | null, uuid: string): Promise<null> {
  if (!Object.hasOwn(context.config().filters, uuid))
    throw new GenericError(`Filter rule with UUID ${uuid} does not exist`)
  await context.wconfd.gantryChange(client(user), null, [['removeFilterRule', uuid]])
  return null
}

/** Predicates are stored in the normal spelling. An unparsable one throws QueryFilterParseError. */
function normalPredicate(predicate: unknown): FilterPredicate {
  const [kind, condition]: unknown[] = Array.isArray(predicate) ? predicate : []
  if (kind !== 'jobid' && kind !== 'opcode' && kind !== 'reason')
    throw new GenericError(`Invalid predicate of a filter rule: ${JSON.stringify(predicate)}`)
  const filter = parseFilter(condition)
  refuseWide(filter)
  return [kind, serializeFilter(filter)]
}

const USER = 'user '

/** The client id for a user's change. */
export const askerOf = (user: string): string => USER + user

export const userOf = (asker: string): string | null => (asker.startsWith(USER) ? asker.slice(USER.length) : null)

const isReason = (value: unknown): value is ReasonEntry =>
  Array.isArray(value) && typeof value[0] === 'string' && typeof value[1] === 'string' && typeof value[2] === 'number'
