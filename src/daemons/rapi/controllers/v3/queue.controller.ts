// Requests of /3 about the job queue itself.
import { Body, Put, Route, Security, SuccessResponse, Tags } from '../../../../http/decorators'
import { drainBody } from '../../v3/bodies'
import { V3Resource } from './resource'

/** Whether the queue takes new jobs. */
export interface QueueDrain {
  /** If true, new jobs are refused. Existing jobs go on. */
  drained: boolean
}

@Route('3/queue')
@Tags('jobs')
@Security('basic')
@Security('bearer')
export class QueueV3Controller extends V3Resource {
  /** Makes the queue refuse new jobs, or accept them again. `GET /3/cluster` shows the current state. */
  @Put('drained')
  @SuccessResponse(204, 'Done')
  async drain(@Body() body: QueueDrain): Promise<void> {
    const { identity, gantry, reply } = this.v3
    await gantry.drainQueue(identity, drainBody.read(body).drained)
    reply.status = 204
  }
}
