// Test files of one worker share its global scope: none may see what another one left there.
type Scope = new (config: object) => { readonly teardown: () => Promise<void> }
const OneScope = jest.requireActual<Scope>('../../../scripts/jest-environment.cjs')

test('what a file left in the scope of its worker is taken back when it ends', async () => {
  const { fetch } = globalThis
  const folder = process.cwd()
  process.env['STAYS'] = 'as it is'
  const environment = new OneScope({ projectConfig: { fakeTimers: {} } })
  Object.assign(globalThis, { left: 1, fetch: () => 'nothing' })
  Object.assign(process.env, { LEFT: 'here', STAYS: 'no' })
  process.chdir('/')
  await environment.teardown()
  expect([globalThis.fetch === fetch, 'left' in globalThis, process.cwd()]).toEqual([true, false, folder])
  expect([process.env['LEFT'], process.env['STAYS']]).toEqual([undefined, 'as it is'])
})
