// Whether a caller may submit opcodes, or plan them.
import { dependenciesOf } from '../../jobs/job'
import type { WireOpCode } from '../../rpc/luxi/calls'
import { type Access, forbidden, OUTSIDE } from '../access/access'
import { seesJob } from '../events/events'
import type { MasterContext } from '../master-context'

/** Whether the caller may do all this, after jobs that it sees: how other jobs end is nothing for it. */
export async function checkAll(
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
