// Requests of /3 about the watcher.
import { Body, Get, Put, Route, Security, Tags } from '../../../../http/decorators'
import { seconds } from '../../../../lib/clock'
import { watcherShape } from '../../../../query/object-shapes'
import { pauseBody } from '../../v3/bodies'
import { inFuture } from '../../v3/body'
import { V3Resource } from './resource'

/** An instance that was left as it was, and why. */
export interface WatcherLeft {
  name: string
  why: string
}

/** What failed for an instance, or for the disks of a group. */
export interface WatcherFailed extends WatcherLeft {
  /** Null when the queue took no job. @isInt */
  job: number | null
}

/** What the last run for a node group did. Lists have the names of instances. */
export interface WatcherGroup {
  /** The uuid of the node group. */
  group: string
  name: string
  /** Why it ran: its time had come, a node had returned, somebody called it. */
  why: string
  /** @format date-time */
  started: string
  /** @format date-time */
  ended: string
  restarted: string[]
  /** Stopped by their users, which the cluster knows now. */
  cleanedUp: string[]
  /** Their disks were activated. */
  activated: string[]
  /** The last attempt to start them was made before this run. */
  gaveUp: string[]
  /** Left as they are although something is wrong with them. */
  left: WatcherLeft[]
  failed: WatcherFailed[]
  /** Why the run did not get to its end; null when it did. */
  error: string | null
}

/** Tells which instances are started again by themselves, and when. */
export interface WatcherView {
  /** Until then nothing is done; null when it is not paused. @format date-time */
  paused_until: string | null
  /** When it runs at the latest; null when it has not run yet. @format date-time */
  next_run: string | null
  groups: WatcherGroup[]
}

/** Whether the watcher rests. */
export interface WatcherPauseRequest {
  /** Until then nothing is started again by itself; null ends a pause. @format date-time */
  until: string | null
}

@Route('3/watcher')
@Tags('maintenance')
@Security('basic')
@Security('bearer')
export class WatcherV3Controller extends V3Resource {
  /** Whether the watcher is paused, when it runs again, and what its last run did for each node group. */
  @Get('')
  async get(): Promise<WatcherView> {
    return watcherShape(await this.v3.gantry.watcher(this.v3.identity))
  }

  /** Pauses the watcher on all nodes, or ends its pause. */
  @Put('pause')
  async pause(@Body() body: WatcherPauseRequest): Promise<WatcherView> {
    const { until } = pauseBody.read(body)
    inFuture('until', until, seconds(this.context.services.clock))
    return watcherShape(await this.v3.gantry.pauseWatcher(this.v3.identity, until))
  }
}
