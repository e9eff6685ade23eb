// Requests of /3 about the job queue itself.
import { Body, Put, Route, Security, SuccessResponse, Tags } from '../../../../http/decorators'
import { badRequest } from '../../../../http/errors'
import { isObject } from '../../../../lib/shapes/shape'
import { V3Resource } from './resource'

/** Whether the queue takes new jobs. */
export interface QueueDrain {
  /** New jobs are refused; those that are there go on. */
  drained: boolean
}

@Route('3/queue')
@Tags('jobs')
@Security('basic')
@Security('bearer')
export class QueueV3Controller extends V3Resource {
  /** Makes the queue refuse new jobs, or take them again. `GET /3/cluster` tells whether it does. */
  @Put('drained')
  @SuccessResponse(204, 'Done')
  async drain(@Body() body: QueueDrain): Promise<void> {
    const { identity, gantry, reply } = this.v3
    await gantry.drainQueue(identity, readDrain(body))
    reply.status = 204
  }
}

function readDrain(body: unknown): boolean {
  if (isObject(body)) {
    const { drained, ...others } = body
    if (typeof drained === 'boolean' && Object.keys(others).length === 0) return drained
  }
  throw badRequest('The body must be an object with `drained` alone, which is true or false')
}
