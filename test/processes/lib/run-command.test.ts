import { runCommand } from '../../../src/lib/run-command'

test('a program that cannot be started, or not with what it is given, has an exit code and says why', async () => {
  const missing = await runCommand(['/no/such/program'])
  expect([missing.code, missing.output]).toEqual([127, expect.stringContaining('ENOENT')])
  const argument = await runCommand(['/bin/true', 'a\0b'])
  expect([argument.code, argument.output]).toEqual([127, expect.stringContaining('without null bytes')])
  const variable = await runCommand(['/bin/true'], { env: { NAME: 'a\0b' } })
  expect([variable.code, variable.output]).toEqual([127, expect.stringContaining('without null bytes')])
})
