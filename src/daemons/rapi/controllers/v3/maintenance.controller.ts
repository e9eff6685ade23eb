// Requests of /3 about maintenance.
import type { MaintenanceChanges, MaintenanceEvent, MaintenanceView } from '../../../../model/maintenance'
import { Body, Get, Patch, Path, Post, Route, Security, SuccessResponse, Tags } from '../../../../http/decorators'
import type { JobAccepted } from '../../v3/submission'
import { V3Resource } from './resource'

@Route('3/maintenance')
@Tags('maintenance')
@Security('basic')
@Security('bearer')
export class MaintenanceV3Controller extends V3Resource {
  /** Settings, events, the jobs of the current round, what a dry run would do, and nodes whose reports cannot be used. */
  @Get('')
  async get(): Promise<MaintenanceView> {
    return this.v3.gantry.maintenance(this.v3.identity)
  }

  /** Sets what maintenance may do. A job changes the given settings. */
  @Patch('settings')
  @SuccessResponse(202, 'Accepted')
  async set(@Body() body: MaintenanceChanges): Promise<JobAccepted> {
    return this.accepted(await this.v3.gantry.setMaintenance(this.v3.identity, { ...body }))
  }

  /**
   * Orders that nothing more is done about an event. Jobs that were submitted go on. The event is forgotten when it is no longer observed.
   * @param id The id of the event.
   */
  @Post('events/{id}/cancel')
  async cancel(@Path() id: string): Promise<MaintenanceEvent> {
    return this.v3.gantry.cancelRepair(this.v3.identity, id)
  }

  /**
   * Acknowledges an event that has ended: a job removes its tag from the node.
   * @param id The id of the event.
   */
  @Post('events/{id}/acknowledge')
  @SuccessResponse(202, 'Accepted')
  async acknowledge(@Path() id: string): Promise<JobAccepted> {
    return this.accepted(await this.v3.gantry.acknowledgeRepair(this.v3.identity, id))
  }

  private accepted(id: number): JobAccepted {
    const { reply } = this.v3
    reply.status = 202
    reply.headers['Location'] = `/3/jobs/${id}`
    return { id }
  }
}
