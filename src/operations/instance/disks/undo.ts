// Undoes earlier steps on nodes when a later one fails.
import { KEEP_UNTIL_UNKNOWN } from '../../../model/leftovers'
import type { NodeResult } from '../../../rpc/node/client'
import type { UnitContext } from '../../unit-context'

interface Step {
  readonly what: string
  readonly step: () => Promise<NodeResult<unknown>>
  readonly needed: boolean
}

/** The undo steps, last first. Undoing continues when a step fails, and names what must be done by hand. */
export class Undo {
  private readonly steps: Step[] = []

  constructor(private readonly ctx: UnitContext) {}

  /** `needed`: the steps that were pushed earlier would do harm if this one fails. They are left out then. */
  push(what: string, step: Step['step'], { needed = false } = {}): void {
    this.steps.push({ what, step, needed })
  }

  /** Runs `work`; if it fails, undoes everything and throws its error. */
  async around(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (await this.ctx.config.isSettled()) await this.undo()
      else this.keep()
      throw error
    }
  }

  private keep(): void {
    const steps = this.steps.toReversed().map(({ what }) => what)
    if (steps.length === 0) return
    this.ctx.log.warning(
      `Nobody knows whether the configuration has changed, so nothing was undone. Only if it still has the former state, this is left to do: ${steps.join('; ')}`,
      'look at the configuration first, when its daemon runs again',
    )
  }

  private async undo(): Promise<void> {
    for (const [at, { what, step, needed }] of [...this.steps.entries()].toReversed()) {
      const result = await step()
      if (result.ok) continue
      this.ctx.log.warning(`Could not ${what}: ${result.error}`, KEEP_UNTIL_UNKNOWN)
      if (!needed) continue
      const left = this.steps.slice(0, at).toReversed()
      this.ctx.log.warning(`Therefore, nobody tried to ${left.map((one) => one.what).join('; ')}`)
      return
    }
  }
}
