// The socket at which a test of the queue meets the job that it tests.
import type { Rendezvous } from '../../lib/rendezvous'
import { OpExecError } from '../../model/errors'
import type { UnitContext } from '../unit-context'

/** Where a tester is waited for, in a job that one can reach. */
export async function meetingPoint({ env }: UnitContext): Promise<Rendezvous> {
  if (env.rendezvous === undefined) throw new OpExecError('a wait for a tester, who cannot come here')
  return env.rendezvous()
}
