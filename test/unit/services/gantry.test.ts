import { systemClock } from '../../../src/lib/clock'
import { callersCallNames, gantryCalls } from '../../../src/rpc/luxi/gantry-calls'
import { localGantry, type GantryParts } from '../../../src/services/gantry'
import type { MasterContext } from '../../../src/services/master-context'

const context: Pick<MasterContext, 'clock'> = { clock: systemClock }
const parts: Partial<GantryParts> = {}
// Nobody gets so far that more than this is needed.
const gantry = localGantry(context as MasterContext, parts as GantryParts)

test.each(callersCallNames.flatMap((name) => (gantryCalls[name].needs === null ? [] : [name])))(
  '%s is refused to callers who lack its permission',
  async (name) => {
    const call = gantry[name] as (...args: unknown[]) => Promise<unknown>
    const permissions = ['*', `-${gantryCalls[name].needs}`]
    await expect(call({ user: 'u', token: null, permissions })).rejects.toThrow(
      `needs the permission ${gantryCalls[name].needs}`,
    )
  },
)
