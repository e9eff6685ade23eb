// A change of the configuration that follows what nodes have done already.
import type { Change, UnitContext } from './unit-context'

/** If the change fails, the log of the job says how to bring the configuration and the nodes together again. */
export async function changeOrAdvise(ctx: UnitContext, changes: readonly Change[], advice: string): Promise<void> {
  try {
    await ctx.config.change(changes)
  } catch (error) {
    ctx.log.warning('The nodes have changed already, and the configuration may not say so', advice)
    throw error
  }
}
