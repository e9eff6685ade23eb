// Requests of /3 about events.
import { Get, Header, Produces, Query, Route, Security, Tags } from '../../../../http/decorators'
import { EVENT_KINDS, EVENT_TYPES } from '../../../../rpc/luxi/gantry'
import { badRequest } from '../../../../http/errors'
import { eventStream, shownEvent } from '../../v3/event-stream'
import { cursorOf, readCursor, readLimit, V3Resource } from './resource'

/** Something that has happened. */
export interface PastEvent {
  /** What a stream goes on after with `Last-Event-ID`. */
  id: string
  type: string
  /** @format date-time */
  time: string
  /** The objects that it is about: `instance/vm1`, `job/12`. */
  objects: string[]
  /** What happened to them: see `GET /3/events`. */
  data: object
}

/** One page of what has happened, the newest first. */
export interface PastEventPage {
  items: PastEvent[]
  /** The value of `after` for the next page; null on the last one. */
  next: string | null
}

@Route('3/events')
@Tags('events')
@Security('basic')
@Security('bearer')
export class EventsV3Controller extends V3Resource {
  /**
   * The events of the cluster, as server-sent events: `job` (a job or one of its opcodes changed its state), `log` (a line of a
   * job's log), `config` (an object was added, changed or removed), `instance` (see below), `node` (a node changed its role), `master`, `watcher`
   * (what was started again by itself, and nodes that come and go), `maintenance` (a repair event was noted,
   * has changed or was forgotten, or the report of a node cannot be used), and `gap` (something is missing here: look at the objects anew). The data of each is a JSON object. A job's has `user` and `token`; a change of the
   * configuration has `jobs` that asked for it, where jobs did, and beside them `who`, their users in the same order: null for a
   * command on the master. An instance's tells in `change` whether it was `created`, `started`, `stopped`, `migrated`, `failed_over`,
   * `moved` or `removed`, or has `crashed`: it runs no more, though it should, and no job stopped it. A reservation is no instance yet: only `config` tells of it. Beside that it has `instance`,
   * `uuid`, `before` and `now` (each with `running` and `node`, or null where there is no instance), and `cause`: the `job` with
   * `opcode`, `user` and `token`, or null when no job did it. What no job did is told when a node tells it, within seconds. The stream begins with `start`, whose id can
   * be used to go on from there, and ends with `end`, which says why. A comment comes every 15 seconds when nothing else does.
   * @param types Only these, separated by commas. A `gap` is always told.
   * @param objects Only what concerns these, separated by commas: `instance/vm1`, `node/*`, `job/12`.
   * @param lastEventId The id of the last event that was seen, as browsers send it: what followed is told first.
   */
  @Get('')
  @Produces('text/event-stream')
  stream(
    @Query() types?: string,
    @Query() objects?: string,
    @Header('Last-Event-ID') lastEventId?: string,
  ): Promise<string> {
    const { identity, caller, gantry, reply } = this.v3
    const request = { ...wantedOf(types, objects), after: lastEventId ?? null }
    const { clock, log } = this.context.services
    reply.stream = eventStream({ identity, again: caller.again, gantry, clock, log, request })
    return Promise.resolve('')
  }

  /**
   * What has happened, the newest first: the last 10,000 events are kept.
   * @param types Only these, separated by commas; where events are missing is told only when `gap` is among them.
   * @param objects Only what concerns these, separated by commas: `instance/vm1`, `node/*`, `job/12`.
   * @param limit Events on a page: 100 when left out, 1000 at most.
   * @param after The `next` of the page before.
   */
  @Get('past')
  async past(
    @Query() types?: string,
    @Query() objects?: string,
    @Query() limit?: number,
    @Query() after?: string,
  ): Promise<PastEventPage> {
    const { identity, gantry } = this.v3
    const wanted = { ...wantedOf(types, objects), limit: readLimit(limit), before: readCursor('events', after) }
    const { events, next } = await gantry.pastEvents(identity, wanted)
    const items = events.map(({ id, type, ...rest }) => ({ id, type, ...shownEvent(rest) }))
    return { items, next: cursorOf('events', next) }
  }
}

function wantedOf(types: string | undefined, objects: string | undefined) {
  const wanted = listOf(types)
  const unknown = wanted.find((type) => !EVENT_TYPES.some((known) => known === type))
  if (unknown !== undefined) throw badRequest(`types: there is no '${unknown}', only ${EVENT_TYPES.join(', ')}`)
  const about = listOf(objects)
  const strange = about.find((object) => !OBJECT.test(object))
  if (strange !== undefined) throw badRequest(`objects: '${strange}' is none; give ${OBJECT_FORMS}`)
  return { types: wanted, objects: about }
}

const OBJECT = new RegExp(`^(cluster|(${EVENT_KINDS.join('|')})/[^\\0]+)$`)
const OBJECT_FORMS = `KIND/NAME or KIND/*, where KIND is one of ${EVENT_KINDS.join(', ')}; or cluster`

const listOf = (text: string | undefined): string[] =>
  text === undefined ? [] : text.split(',').filter((entry) => entry !== '')
