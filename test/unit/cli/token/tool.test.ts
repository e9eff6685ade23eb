// `gnt token` shows a secret once, and never again.
import type { NewToken, TokenInfo } from '../../../../src/rpc/luxi/gantry'
import type { GantryMaster } from '../../../../src/rpc/luxi/gantry-calls'
import { FakeMaster } from '../../../support/fake-master'
import { runCli } from '../../../support/run-cli'

const stored: TokenInfo = {
  ...{ id: 'ab12', name: 'backup', user: 'anna', permissions: ['*.query'], tags: ['web'], groups: [] },
  ...{ created: 1795250000, expires: null },
}

async function run(line: string) {
  const calls: unknown[][] = []
  const gantry: Partial<GantryMaster> = {
    tokens: async (identity) => (calls.push(['tokens', identity]), [stored]),
    async addToken(identity, token: NewToken) {
      calls.push(['addToken', identity, token])
      return { token: { ...stored, ...token }, secret: 'gnt_ab12_secret' }
    },
    removeToken: async (_identity, id) => (calls.push(['removeToken', id]), null),
  }
  const master = Object.assign(new FakeMaster(), { gantry: gantry as GantryMaster })
  return { calls, ...(await runCli(master, ['gnt', 'token', ...line.split(' ')])) }
}

test('a token is created for a user, and only its secret goes to the output', async () => {
  const { exit, stdout, stderr, calls } = await run(
    'create --user anna --permissions *.query,instances.startup --tags web --valid-for 30d backup',
  )
  expect([exit, stdout]).toEqual([0, 'gnt_ab12_secret\n'])
  expect(stderr).toContain('Token ab12 of anna')
  const [[, identity, token] = []] = calls
  expect(identity).toEqual({ user: 'anna', token: null, permissions: ['*'] })
  expect(token).toMatchObject({
    name: 'backup',
    permissions: ['*.query', 'instances.startup'],
    tags: ['web'],
    groups: [],
  })
  expect((token as NewToken).expires).toBeGreaterThan(30 * 86400)
})

test('tokens are listed without secrets, and revoked by their ids', async () => {
  const { stdout } = await run('list --no-headers --separator |')
  expect(stdout).toBe('ab12|anna|backup|*.query|web|-|2026-11-21 08:33|-\n')
  expect((await run('revoke ab12 cd34')).calls).toEqual([
    ['removeToken', 'ab12'],
    ['removeToken', 'cd34'],
  ])
})

test('the permissions that a token can have are listed', async () => {
  const { exit, stdout, stderr, calls } = await run('permissions')
  expect([exit, calls]).toEqual([0, []])
  expect(stdout.split('\n')).toEqual(expect.arrayContaining(['nodes.query', 'instances.create', 'events.query']))
  expect(stderr).toContain('"*.query" for one of every kind')
})

test.each([
  ['create --permissions *.query x', /--user/],
  ['create --user anna x', /--permissions/],
  ['create --user anna --permissions all x', /'all' is no permission/],
  ['create --user anna --permissions node.query x', /'node.query' is no permission.* nodes\.query/],
  ['create --user anna --permissions *.query --valid-for long x', /time specification 'long'/],
])('%s is refused', async (line, text) => {
  const { exit, stderr, calls } = await run(line)
  expect([exit, calls]).toEqual([1, []])
  expect(stderr).toMatch(text)
})
