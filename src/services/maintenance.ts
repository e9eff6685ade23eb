// Maintenance for users and programs: view, cancel and acknowledge events, and change settings. The maintenance daemon
// does the work. Both communicate only through gantry.data.
import { change, SOMEBODY_ELSE } from '../config/changes'
import { recordGet } from '../config/records'
import { seconds } from '../lib/clock'
import type { JsonObject } from '../lib/shapes/shape'
import { ConfigurationError, ECODE, OpPrereqError } from '../model/errors'
import { WRITES_MAX } from '../model/limits/maintenance'
import {
  canceledEvent,
  isActive,
  MAINTENANCE,
  type MaintenanceEvent,
  maintenanceParameters,
  type MaintenanceView,
  maintenanceView,
  type RepairEvent,
  repairEvents,
  shownEvent,
} from '../model/maintenance'
import type { ClientId } from '../model/lock'
import { OpClusterSetParams } from '../opcodes/cluster'
import { BadParameter, fillOpcode, op } from '../opcodes/index'
import { OpTagsDel } from '../opcodes/tags'
import type { JobId, WireOpCode } from '../rpc/luxi/calls'
import type { Access } from './access/access'
import type { MasterContext } from './master-context'
import type { Submissions } from './jobs/submissions'

const LOOK_AGAIN_MS = 50

type Context = Pick<MasterContext, 'config' | 'gantry' | 'wconfd' | 'clock'>

export class MaintenanceService {
  constructor(
    private readonly context: Context,
    private readonly submissions: Pick<Submissions, 'ask'>,
  ) {}

  view(): MaintenanceView {
    return maintenanceView(this.context.gantry(), (uuid) => this.nameOf(uuid))
  }

  async cancel(_caller: Access, id: string): Promise<MaintenanceEvent> {
    const { clock, wconfd } = this.context
    const client: ClientId = ['luxid', '', 0]
    for (let tries = 1; ; tries++) {
      const event = this.find(id)
      if (event.status === 'canceled') return shownEvent(event, this.nameOf(event.node))
      if (!isActive(event))
        throw new OpPrereqError(
          `The event ${id} is ${event.status} already, so there is nothing to cancel: acknowledge it instead`,
          ECODE.STATE,
        )
      const after = canceledEvent(event, seconds(clock))
      try {
        await wconfd.gantryChange(client, null, [change('swapGantry', MAINTENANCE.events, id, event.serial_no, after)])
        return shownEvent(after, this.nameOf(after.node))
      } catch (error) {
        const isConflict = error instanceof ConfigurationError && error.message.startsWith(SOMEBODY_ELSE)
        if (!isConflict || tries >= WRITES_MAX) throw error
        await clock.sleep(LOOK_AGAIN_MS)
      }
    }
  }

  /**
   * Removes the tag. Then maintd forgets the event; it forgets a completed one when the fault is no longer reported.
   */
  async acknowledge(caller: Access, id: string): Promise<JobId> {
    const event = this.find(id)
    const { name, tags } = recordGet(this.context.config().nodes, event.node) ?? {}
    // The node has its tag a moment before maintd notices the end of the job that set it.
    if (name === undefined || !(event.tagged || tags?.includes(event.tag)))
      throw new OpPrereqError(
        `The event ${id} is ${event.status}, and its node has no tag of it yet: there is nothing to acknowledge` +
          (isActive(event) ? '; cancel it instead' : ''),
        ECODE.STATE,
      )
    return this.submissions.ask(caller, op(OpTagsDel, { kind: 'node', name, tags: [event.tag] }))
  }

  /** Changes the given settings; the others stay. */
  async set(caller: Access, settings: JsonObject): Promise<JobId> {
    return this.submissions.ask(caller, readSettings(maintenanceParameters(settings)))
  }

  private find(id: string): RepairEvent {
    const event = repairEvents(this.context.gantry()).find((one) => one.id === id)
    if (event === undefined) throw new OpPrereqError(`There is no event ${id}`, ECODE.NOENT)
    return event
  }

  private nameOf(uuid: string): string | undefined {
    return recordGet(this.context.config().nodes, uuid)?.name
  }
}

function readSettings(input: JsonObject): WireOpCode {
  try {
    return fillOpcode(OpClusterSetParams, input)
  } catch (error) {
    throw error instanceof BadParameter ? new OpPrereqError(error.explained, ECODE.INVAL) : error
  }
}
