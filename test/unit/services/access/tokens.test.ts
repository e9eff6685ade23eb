// No user takes all tokens.
import { TOKENS_PER_USER_MAX } from '../../../../src/model/limits/logins'
import { systemClock } from '../../../../src/lib/clock'
import { systemRandom } from '../../../../src/lib/random'
import type { MasterContext } from '../../../../src/services/master-context'
import { Access } from '../../../../src/services/access/access'
import { TokenService } from '../../../../src/services/access/tokens'

const desired = { name: 'x', permissions: ['nodes.query'], tags: [], groups: [], expires: null }

/** So many tokens of anna are there. */
function serviceWith(count: number) {
  const tokens = new Map<string, unknown>()
  for (let id = 0; id < count; id++) tokens.set(`t${id}`, { id: `t${id}`, user: 'anna' })
  const documents = {
    current: () => ({ serial_no: 1, sections: { tokens: Object.fromEntries(tokens) } }),
    onChange: () => () => undefined,
  }
  const gantryChange = async (_client: unknown, _owner: unknown, [change]: [string, string, string, unknown][]) => {
    await Promise.resolve()
    if (change) tokens.set(change[2], change[3])
  }
  const disk = { read: async () => Buffer.from('anna secret write') }
  // Only the fields that a new token uses.
  const context = {
    disk,
    paths: { rapiUsers: 'users' },
    random: systemRandom,
    clock: systemClock,
    wconfd: { gantryChange },
  }
  const service = new TokenService(context as unknown as MasterContext, documents as never)
  return (user: string) => service.add(new Access({ user, token: null, permissions: ['*'] }, null), desired)
}

test('a user has no more than a share of the tokens', async () => {
  const add = serviceWith(TOKENS_PER_USER_MAX)
  await expect(add('anna')).rejects.toThrow('The user anna has 200 tokens already; revoke some first')
  await expect(add('bert')).rejects.toThrow('There is no user bert')
})

test('tokens that are asked for together have one share', async () => {
  const add = serviceWith(TOKENS_PER_USER_MAX - 1)
  const both = await Promise.allSettled([add('anna'), add('anna')])
  expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
})
