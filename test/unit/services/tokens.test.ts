import { TOKENS_PER_USER_MAX } from '../../../src/model/limits'
import type { MasterContext } from '../../../src/services/master-context'
import { TokenService } from '../../../src/services/tokens'

test('a user has no more than a share of the tokens', async () => {
  const tokens = Array.from({ length: TOKENS_PER_USER_MAX }, (_, id) => [`t${id}`, { id: `t${id}`, user: 'anna' }])
  const documents = {
    current: () => ({ serial_no: 1, sections: { tokens: Object.fromEntries(tokens) } }),
    onChange: () => () => undefined,
  }
  const disk = { read: async () => undefined }
  // Only what is used before a token is written.
  const context = { disk, paths: { rapiUsers: 'users' } } as unknown as MasterContext
  const service = new TokenService(context, documents as never)
  const wanted = { name: 'x', permissions: ['nodes.query'], tags: [], groups: [], expires: null }
  const add = (user: string) => service.add({ user, token: null, permissions: ['*'] }, wanted)
  await expect(add('anna')).rejects.toThrow('The user anna has 200 tokens already; revoke some first')
  await expect(add('bert')).rejects.toThrow('There is no user bert')
})
