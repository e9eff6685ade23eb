// Requests of /3 about the watcher.
import { Body, Get, Put, Route, Security, Tags } from '../../../../http/decorators'
import { seconds } from '../../../../lib/clock'
import { watcherShape } from '../../../../query/object-shapes'
import { pauseBody } from '../../v3/bodies'
import { inFuture } from '../../v3/body'
import { V3Resource } from './resource'

/** An instance that the watcher left as it was, and why. */
interface WatcherLeft {
  name: string
  why: string
}

/** An instance, or the disks of a group, for which something failed. */
interface WatcherFailed extends WatcherLeft {
  /** Null if no job was submitted. @isInt */
  job: number | null
}

/** What the last run for a node group did. The lists contain names of instances. */
interface WatcherGroup {
  /** The uuid of the node group. */
  group: string
  name: string
  /** Who looked: `watcher`, or `maintd`, which does the same sooner. Missing in reports of older versions. */
  by?: string
  /** Why it ran: its time had come, a node had returned, or it was called. */
  why: string
  /** @format date-time */
  started: string
  /** @format date-time */
  ended: string
  restarted: string[]
  /** Stopped by their users. The run recorded that. */
  cleanedUp: string[]
  /** The run activated their disks. */
  activated: string[]
  /** Not started any more, because too many attempts have failed. */
  gaveUp: string[]
  /** Not touched, although something is wrong with them. */
  left: WatcherLeft[]
  failed: WatcherFailed[]
  /** Why the run ended early. Null if it did not. */
  error: string | null
}

/** Shows which instances are started again automatically, and when. */
export interface WatcherView {
  /** Nothing is done until then. Null if the watcher is not paused. @format date-time */
  paused_until: string | null
  /** The latest time of the next run. Null if it has never run. @format date-time */
  next_run: string | null
  groups: WatcherGroup[]
}

/** Whether to pause the watcher. */
export interface WatcherPauseRequest {
  /** Nothing is started automatically until then. Null ends a pause. @format date-time */
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
