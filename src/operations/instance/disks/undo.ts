// What was done on nodes step by step, and is taken back when a later step fails.
import type { NodeResult } from '../../../rpc/node/client'
import type { UnitContext } from '../../unit-context'

/** What has to be undone, the last first. Undoing goes on when a part of it fails, and says what is left to do by hand. */
export class Undo {
  private readonly steps: { what: string; step: () => Promise<NodeResult<unknown>> }[] = []

  constructor(private readonly ctx: UnitContext) {}

  push(what: string, step: () => Promise<NodeResult<unknown>>): void {
    this.steps.push({ what, step })
  }

  /** `work` is done, or it is undone and its error thrown. */
  async around(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      for (const { what, step } of this.steps.toReversed()) {
        const result = await step()
        if (!result.ok) this.ctx.log.warning(`Could not ${what}: ${result.error}`, 'clean up by hand')
      }
      throw error
    }
  }
}
