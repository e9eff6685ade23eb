// Test files of one worker share its global scope: none may see what another one left there.
import * as net from 'node:net'

type Scope = new (
  config: object,
  context: { testPath: string },
) => {
  readonly teardown: () => Promise<void>
  patience_s: number
}
const OneScope = jest.requireActual<Scope>('../../../scripts/jest-environment.cjs')
const scopeOf = (testPath: string) => new OneScope({ projectConfig: { fakeTimers: {} } }, { testPath })

test('a file whose server goes on is named when it ends', async () => {
  const [unit, system] = [scopeOf('/test/unit/x.test.ts'), scopeOf('/test/system/x.test.ts')]
  unit.patience_s = system.patience_s = 0
  const server = net.createServer().listen(0)
  await expect(unit.teardown()).rejects.toThrow(
    'x.test.ts leaves something that keeps its process alive: TCPServerWrap',
  )
  // Another worker waits for whole clusters: there it is only told.
  const write = jest.spyOn(process.stderr, 'write').mockReturnValue(true)
  await system.teardown()
  expect(write).toHaveBeenCalledWith(expect.stringContaining('/test/system/x.test.ts leaves something'))
  write.mockRestore()
  await new Promise((resolve) => server.close(resolve))
  unit.patience_s = 30
  await unit.teardown()
})

test('what a file left in the scope of its worker is taken back when it ends', async () => {
  const { fetch } = globalThis
  const folder = process.cwd()
  process.env['STAYS'] = 'as it is'
  const environment = scopeOf('/test/unit/x.test.ts')
  Object.assign(globalThis, { left: 1, fetch: () => 'nothing' })
  Object.assign(process.env, { LEFT: 'here', STAYS: 'no' })
  process.chdir('/')
  await environment.teardown()
  expect([globalThis.fetch === fetch, 'left' in globalThis, process.cwd()]).toEqual([true, false, folder])
  expect([process.env['LEFT'], process.env['STAYS']]).toEqual([undefined, 'as it is'])
})
