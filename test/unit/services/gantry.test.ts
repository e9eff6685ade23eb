// What concerns everybody is not for a token that sees only some objects.
import { EMPTY_GANTRY } from '../../../src/config/upgrade'
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

const token = {
  ...{ id: 't', user: 'u', name: 't', created: 0, expires: null },
  ...{ permissions: ['*'], tags: ['mine'], groups: [] },
}
const documents = {
  current: () => ({ ...EMPTY_GANTRY, sections: { tokens: { t: token } } }),
  onChange: () => () => undefined,
}
const info = { paused_until: null, next_run: null, groups: [] }
const watcher = { info: () => info } as unknown as GantryParts['watcher']
const withTokens = localGantry(context as MasterContext, { documents, watcher } as unknown as GantryParts)
const limited = { user: 'u', token: 't', permissions: ['*'] }

test.each(callersCallNames.filter((name) => gantryCalls[name].forEverybody))(
  '%s concerns everybody, so a token that sees only some objects is refused',
  async (name) => {
    const call = withTokens[name] as (...args: unknown[]) => Promise<unknown>
    await expect(call(limited)).rejects.toMatchObject({ code: 'forbidden' })
  },
)

test('what concerns everybody is answered to somebody without a scope', async () => {
  expect(await withTokens.watcher({ ...limited, token: null })).toEqual(info)
})
