// The socket at which a test of the queue meets its job.
import type { Rendezvous } from '../../lib/net/rendezvous'
import { OpExecError } from '../../model/errors'
import type { UnitContext } from '../unit-context'

/** The socket that waits for a tester, if the job can have one. */
export async function meetingPoint({ env }: UnitContext): Promise<Rendezvous> {
  if (env.rendezvous === undefined) throw new OpExecError('it waits for a tester, but no tester can connect here')
  return env.rendezvous()
}
