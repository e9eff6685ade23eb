// Waits for a guest to stop, and reports in the job's log.
import type { UnitContext } from '../unit-context'
import { STOP_NEWS_S } from '../../model/limits/operations'

/** A guest may be slow, or ignore the power button, so the job's log says how long we wait. */
export async function waitForStop<T>(
  ctx: UnitContext,
  { name, limit_s }: { readonly name: string; readonly limit_s: number },
  stopping: Promise<T>,
): Promise<T> {
  const { clock } = ctx.env
  const start_ms = clock.monotonic_ms()
  const tell = () => {
    const waited_s = Math.round((clock.monotonic_ms() - start_ms) / 1000)
    if (waited_s < limit_s)
      ctx.log.say(
        `Waiting for instance ${name} to shut down: ${waited_s} of ${limit_s} seconds, then it is switched off`,
      )
    return next()
  }
  const next = () => clock.after(STOP_NEWS_S * 1000, () => (timer = tell()), { background: true })
  let timer = next()
  try {
    return await stopping
  } finally {
    timer.cancel()
  }
}
