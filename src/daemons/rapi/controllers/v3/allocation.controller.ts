// Requests of /3 about the allocation: balances, capacity and what-if.
import { Body, Header, Post, Response, Route, Security, Tags } from '../../../../http/decorators'
import type {
  BalanceRequest,
  BalanceStep,
  Capacity,
  CapacityRequest,
  GroupScore,
  WhatIf,
  WhatIfRequest,
} from '../../../../model/allocation'
import { Mismatch, type Shape } from '../../../../lib/shapes/shape'
import { balanceRequest, capacityRequest, whatIfRequest } from '../../../../rpc/luxi/allocation'
import type { Answered } from '../../../../rpc/luxi/allocation'
import type { ObjectKind } from '../../../../model/object-kinds'
import { badRequest } from '../../../../http/errors'
import { AnsweredByJob } from '../../errors'
import { readPrefer } from '../../v3/prefer'
import type { JobAccepted } from '../../v3/submission'
import type { AnyOpcode } from './jobs.controller'
import { V3Resource } from './resource'

/** An object of the configuration as it was. */
interface PlanVersion {
  kind: ObjectKind
  uuid: string
  /** @isInt */
  serial_no: number
}

/** A balance as a plan: one job of ordered relocations. */
export interface BalancePlan {
  /** Valid for a submission of `ops` by the same user, within 15 minutes. Null if there is nothing to move. */
  plan: string | null
  /** @format date-time */
  expires: string | null
  /** How evenly each group is loaded, now and after the moves. 0 is best. */
  groups: GroupScore[]
  /** In the order in which they are done. */
  steps: BalanceStep[]
  /** The opcodes to submit. */
  ops: AnyOpcode[]
  /** For each of `ops`, the objects that must be unchanged when it is run. */
  preconditions: PlanVersion[][]
  /** There are more moves than were allowed, or than one job can hold. Plan again after these. */
  more: boolean
  /** The moves that were not considered, and why: without `disk_moves`, moves that copy disks are left out. Null if there are none. */
  left_out: string | null
}

@Route('3')
@Tags('allocation')
@Security('basic')
@Security('bearer')
export class AllocationV3Controller extends V3Resource {
  /**
   * Plans a balance: the moves that load the nodes of each group most evenly, one after the other, and the gain of each. `POST /3/jobs`
   * with `ops` and `plan` carries it out, if its instances and nodes have not changed. This request moves nothing. If the answer takes more
   * than 20 seconds, it becomes the result of a job, OP_CLUSTER_BALANCE, which `Location` names.
   * @param prefer `respond-async` makes that job at once, `wait=5` after that many seconds.
   */
  @Post('balance')
  @Response<JobAccepted>(202, 'Accepted')
  async balance(@Body() body: BalanceRequest, @Header('Prefer') prefer?: string): Promise<BalancePlan> {
    const { gantry, identity } = this.v3
    const request = read(balanceRequest, body)
    const planned = this.answered(await gantry.balance(identity, request, readPrefer(prefer), this.context.signal))
    const { ops, steps, groups, preconditions, ...rest } = planned
    const versions = preconditions.map((list) => [...list])
    return { ...rest, groups: [...groups], steps: [...steps], ops: [...ops], preconditions: versions }
  }

  /**
   * How many instances of a size fit into each node group, on which nodes, in which order, and why no more fit. If the answer takes more
   * than 20 seconds, it becomes the result of a job, OP_CLUSTER_CAPACITY, which `Location` names.
   * @param prefer `respond-async` makes that job at once, `wait=5` after that many seconds.
   */
  @Post('capacity')
  @Response<JobAccepted>(202, 'Accepted')
  async capacity(@Body() body: CapacityRequest, @Header('Prefer') prefer?: string): Promise<Capacity> {
    const { gantry, identity } = this.v3
    const request = read(capacityRequest, body)
    return this.answered(await gantry.capacity(identity, request, readPrefer(prefer), this.context.signal))
  }

  /**
   * Predicts what happens when nodes die, or instances are added, or both: which instances come back on which node, which cannot, and why.
   * The answer is the same for the same cluster. This request changes nothing. If the answer takes more than 20 seconds, it becomes the
   * result of a job, OP_CLUSTER_WHAT_IF, which `Location` names.
   * @param prefer `respond-async` makes that job at once, `wait=5` after that many seconds.
   */
  @Post('whatif')
  @Response<JobAccepted>(202, 'Accepted')
  async whatIf(@Body() body: WhatIfRequest, @Header('Prefer') prefer?: string): Promise<WhatIf> {
    const { gantry, identity } = this.v3
    const request = read(whatIfRequest, body)
    return this.answered(await gantry.whatIf(identity, request, readPrefer(prefer), this.context.signal))
  }

  private answered<T>(answered: Answered<T>): T {
    if ('answer' in answered) return answered.answer
    throw new AnsweredByJob(answered.job)
  }
}

function read<T>(shape: Shape<T>, body: unknown): T {
  try {
    return shape.parse(body)
  } catch (error) {
    if (error instanceof Mismatch) throw badRequest(error.message)
    throw error
  }
}
