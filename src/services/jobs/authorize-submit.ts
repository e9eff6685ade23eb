// Checks whether a caller may submit or plan opcodes.
import { dependenciesOf } from '../../jobs/job'
import type { WireOpCode } from '../../rpc/luxi/calls'
import { type Access, forbidden, OUTSIDE } from '../access/access'
import { seesJob } from '../events/events'
import type { MasterContext } from '../master-context'

/**
 * Throws unless the caller may do all this, and sees the jobs on which they depend: it must not learn how other jobs
 * end.
 */
export async function authorizeSubmit(
  access: Access,
  ops: readonly WireOpCode[],
  { config, queue }: Pick<MasterContext, 'config' | 'queue'>,
): Promise<void> {
  for (const op of ops) access.check(config(), op)
  if (!access.limited) return
  for (const [id] of ops.flatMap((input) => dependenciesOf({ input }))) {
    const job = await queue.find(id)
    if (job === undefined || !seesJob(access, job)) throw forbidden(OUTSIDE)
  }
}
