// Undoes earlier steps on nodes when a later one fails.
import type { NodeResult } from '../../../rpc/node/client'
import type { UnitContext } from '../../unit-context'

/** The undo steps, last first. Undoing continues when a step fails, and names what must be done by hand. */
export class Undo {
  private readonly steps: { what: string; step: () => Promise<NodeResult<unknown>> }[] = []

  constructor(private readonly ctx: UnitContext) {}

  push(what: string, step: () => Promise<NodeResult<unknown>>): void {
    this.steps.push({ what, step })
  }

  /** Runs `work`; if it fails, undoes everything and throws its error. */
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
