// A job in the plan of a round.
import type { Step } from '../allocation/model/requests'
import type { RoundJob } from '../model/maintenance'

export interface PlannedJob extends Omit<RoundJob, 'key' | 'job'> {
  readonly ops: readonly Step[]
}
