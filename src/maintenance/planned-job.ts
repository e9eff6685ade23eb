// A job as the plan of a round has it.
import type { Step } from '../allocation/requests'
import type { RoundJob } from '../model/maintenance'

export interface PlannedJob extends Omit<RoundJob, 'key' | 'job'> {
  readonly ops: readonly Step[]
}
