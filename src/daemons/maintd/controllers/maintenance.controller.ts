// Requests to maintd: what it knows and does, and what people want of it.
import type { MaintenanceChanges, MaintenanceEvent, MaintenanceView } from '../../../model/maintenance'
import { Body, Get, Patch, Path, Post, Route, Security, SuccessResponse, Tags } from '../../../http/decorators'
import type { MaintdContext } from '../context'

/** The job that carries it out. */
export interface MaintenanceSubmitted {
  job: number
}

@Route('')
@Tags('maintenance')
export class MaintenanceController {
  constructor(private readonly context: MaintdContext) {}

  /** The versions of this interface. A browser is shown a page instead. */
  @Get('')
  versions(): number[] {
    return [1]
  }

  /** The root of version 1. */
  @Get('1')
  version1(): null {
    return null
  }

  /** All events that are not forgotten yet. */
  @Get('1/status')
  status(): MaintenanceEvent[] {
    return this.context.view().events
  }

  /** The numbers of the jobs of the round that is under way. */
  @Get('1/jobs')
  jobs(): number[] {
    return this.context.view().jobs.flatMap(({ job }) => job ?? [])
  }

  /** Instances whose load is not known since they left a node that is away. Loads are measured by node, so there are none. */
  @Get('1/evacuated')
  evacuated(): string[] {
    return []
  }

  /** Settings, events, the jobs of the round, what would be done in a dry run, and nodes whose reports cannot be used. */
  @Get('1/maintenance')
  maintenance(): MaintenanceView {
    return this.context.view()
  }

  /**
   * Orders that nothing more is done about an event. Jobs that were submitted go on. It is forgotten when it is no longer observed.
   * @param id The id of the event.
   */
  @Post('1/events/{id}/cancel')
  @Security('basic')
  @Security('bearer')
  async cancel(@Path() id: string): Promise<MaintenanceEvent> {
    return this.context.gantry.cancelRepair(this.context.identity, id)
  }

  /**
   * Acknowledges an event that has ended: a job removes its tag from the node.
   * @param id The id of the event.
   */
  @Post('1/events/{id}/acknowledge')
  @SuccessResponse(202, 'Accepted')
  @Security('basic')
  @Security('bearer')
  async acknowledge(@Path() id: string): Promise<MaintenanceSubmitted> {
    const job = await this.context.gantry.acknowledgeRepair(this.context.identity, id)
    this.context.reply.status = 202
    return { job }
  }

  /** Sets what maintenance may do: a job changes the settings that are given. */
  @Patch('1/settings')
  @SuccessResponse(202, 'Accepted')
  @Security('basic')
  @Security('bearer')
  async set(@Body() body: MaintenanceChanges): Promise<MaintenanceSubmitted> {
    const job = await this.context.gantry.setMaintenance(this.context.identity, { ...body })
    this.context.reply.status = 202
    return { job }
  }
}
