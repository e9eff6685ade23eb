import { Body, Post, Route, Security, Tags } from '@tsoa/runtime'
import type {
  BalanceRequest,
  BalanceStep,
  Capacity,
  CapacityRequest,
  GroupScore,
  WhatIf,
  WhatIfRequest,
} from '../../../../model/allocation'
import { Mismatch } from '../../../../opcodes/check'
import { readBalance, readCapacity, readWhatIf } from '../../../../rpc/luxi/allocation'
import { badRequest } from '../../errors'
import type { AnyOpcode } from './jobs.controller'
import { V3Resource } from './resource'

/** A balance as a plan: one job of ordered relocations. */
export interface BalancePlan {
  /** For a submission of `ops` by the same user, within 15 minutes; null when there is nothing to move. */
  plan: string | null
  /** Seconds since the epoch. @isDouble */
  expires: number | null
  /** How evenly each group is loaded, now and then: 0 is best. */
  groups: GroupScore[]
  /** In the order in which they are carried out. */
  steps: BalanceStep[]
  /** What to submit. */
  ops: AnyOpcode[]
  /** There are more moves than were allowed, or than one job can hold: plan again after these. */
  more: boolean
}

@Route('3')
@Tags('allocation')
@Security('basic')
@Security('bearer')
export class AllocationV3Controller extends V3Resource {
  /**
   * Plans a balance: the moves that load the nodes of each group most evenly, one after the other, and what each gains. `POST /3/jobs`
   * with `ops` and `plan` carries it out, if its instances and nodes are as they were. Nothing is moved by the question.
   */
  @Post('balance')
  async balance(@Body() body: BalanceRequest): Promise<BalancePlan> {
    const { gantry, identity } = this.v3
    const { ops, steps, groups, ...rest } = await gantry.balance(identity, read(readBalance, body), this.context.signal)
    return { ...rest, groups: [...groups], steps: [...steps], ops: [...ops] }
  }

  /** How many instances of a size fit into each node group, on which nodes in which order, and why no more do. */
  @Post('capacity')
  capacity(@Body() body: CapacityRequest): Promise<Capacity> {
    return this.v3.gantry.capacity(this.v3.identity, read(readCapacity, body), this.context.signal)
  }

  /**
   * What happens when nodes die, or instances arrive, or both: which instances come back where, which cannot, and why. The answer is
   * the same for the same cluster, and nothing is changed by the question.
   */
  @Post('whatif')
  whatIf(@Body() body: WhatIfRequest): Promise<WhatIf> {
    return this.v3.gantry.whatIf(this.v3.identity, read(readWhatIf, body), this.context.signal)
  }
}

function read<T>(reader: (value: unknown) => T, body: unknown): T {
  try {
    return reader(body)
  } catch (error) {
    if (error instanceof Mismatch) throw badRequest(error.message)
    throw error
  }
}
