// Requests of /3 about events.
import { Get, Header, Produces, Query, Route, Security, Tags } from '../../../../http/decorators'
import { EVENT_KINDS, EVENT_TYPES } from '../../../../rpc/luxi/gantry'
import { badRequest } from '../../../../http/errors'
import { eventStream } from '../../v3/event-stream'
import { V3Resource } from './resource'

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
    const wanted = listOf(types)
    const unknown = wanted.find((type) => !EVENT_TYPES.some((known) => known === type))
    if (unknown !== undefined) throw badRequest(`types: there is no '${unknown}', only ${EVENT_TYPES.join(', ')}`)
    const about = listOf(objects)
    const strange = about.find((object) => !OBJECT.test(object))
    if (strange !== undefined) throw badRequest(`objects: '${strange}' is none; give ${OBJECT_FORMS}`)
    const request = { types: wanted, objects: about, after: lastEventId ?? null }
    const { clock, log } = this.context.services
    reply.stream = eventStream({ identity, again: caller.again, gantry, clock, log, request })
    return Promise.resolve('')
  }
}

const OBJECT = new RegExp(`^(cluster|(${EVENT_KINDS.join('|')})/.+)$`, 's')
const OBJECT_FORMS = `KIND/NAME or KIND/*, where KIND is one of ${EVENT_KINDS.join(', ')}; or cluster`

const listOf = (text: string | undefined): string[] =>
  text === undefined ? [] : text.split(',').filter((entry) => entry !== '')
