// Requests of /3 about events.
import { Get, Header, Produces, Query, Route, Security, Tags } from '../../../../http/decorators'
import { EVENT_KINDS, EVENT_TYPES } from '../../../../rpc/luxi/gantry'
import { badRequest } from '../../../../http/errors'
import { eventStream, shownEvent } from '../../v3/event-stream'
import { cursorOf, readCursor, readLimit, V3Resource } from './resource'

/** An event that has happened. */
interface PastEvent {
  /** Send it as `Last-Event-ID` to get the events after this one. */
  id: string
  type: string
  /** @format date-time */
  time: string
  /** The objects of the event: `instance/vm1`, `job/12`. */
  objects: string[]
  /** The details of the event: see `GET /3/events`. */
  data: object
}

/** One page of past events, the newest first. */
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
   * The events of the cluster, as server-sent events.
   *
   * Types of events: `job` (a job or one of its opcodes changed its state), `log` (a line of a job's log), `config` (an object was added,
   * changed or removed; of a token, only the id), `instance` and `node` (see below), `master`, `watcher` (what the watcher started again, and
   * nodes that come and go), `maintenance` (a repair event was noted, changed or was forgotten, or the report of a node cannot be used),
   * and `gap` (events are missing here: read the objects again).
   *
   * The data of each event is a JSON object. The data of a job has `user` and `token`. If jobs asked for a change of the configuration, its
   * data lists them in `jobs`, and their users in the same order in `who`, with null for a command on the master.
   *
   * The data of an instance has `change`: `created`, `started`, `stopped`, `migrated`, `failed_over`, `moved`, `removed` or `crashed`. A
   * crashed instance has ended although it should run, and no job stopped it. The data also has `instance`, `uuid`, `before` and `now`
   * (each with `running` and `node`, or null if there is no instance), and `cause`: the `job` with `opcode`, `user` and `token`, or null if
   * no job did it. Changes without a job are reported within seconds, when the node reports them. A reservation is not an instance yet, so
   * it makes only `config` events.
   *
   * The data of a node has `change` unless the node changed its role: `silent` (with `why`) when it no longer answers the master, so that
   * nobody knows what runs on it, and `back` when it answers again. `copy` (with `why` and `since`) says that the node's copy of the
   * configuration has, or had, something that the master lacks: a person should look at it. An event of the cluster with the change `heard`
   * says that a new master has asked all nodes once.
   *
   * The stream begins with `start`, whose id can be used to continue from there. It ends with `end`, which gives the reason. If nothing
   * happens for 15 seconds, a comment is sent.
   * @param types Only events of these types, separated by commas. A `gap` is always sent.
   * @param objects Only events about these objects, separated by commas: `instance/vm1`, `node/*`, `job/12`.
   * @param lastEventId The id of the last event that the client has seen, as browsers send it. The stream begins with the events after it.
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
   * Past events, the newest first. The last 10,000 events are kept.
   * @param types Only these types, separated by commas. Gaps between events are shown only if `gap` is among them.
   * @param objects Only events about these objects, separated by commas: `instance/vm1`, `node/*`, `job/12`.
   * @param limit Events on a page: 100 by default, at most 1000.
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
    const desired = { ...wantedOf(types, objects), limit: readLimit(limit), before: readCursor('events', after) }
    const { events, next } = await gantry.pastEvents(identity, desired)
    const items = events.map(({ id, type, ...rest }) => ({ id, type, ...shownEvent(rest) }))
    return { items, next: cursorOf('events', next) }
  }
}

function wantedOf(types: string | undefined, objects: string | undefined) {
  const desired = listOf(types)
  const unknown = desired.find((type) => !EVENT_TYPES.some((known) => known === type))
  if (unknown !== undefined) throw badRequest(`types: there is no '${unknown}', only ${EVENT_TYPES.join(', ')}`)
  const about = listOf(objects)
  const strange = about.find((object) => !OBJECT.test(object))
  if (strange !== undefined) throw badRequest(`objects: '${strange}' is not an object; write ${OBJECT_FORMS}`)
  return { types: desired, objects: about }
}

const OBJECT = new RegExp(`^(cluster|(${EVENT_KINDS.join('|')})/[^\\0]+)$`)
const OBJECT_FORMS = `KIND/NAME or KIND/*, where KIND is one of ${EVENT_KINDS.join(', ')}; or cluster`

const listOf = (text: string | undefined): string[] =>
  text === undefined ? [] : text.split(',').filter((entry) => entry !== '')
