// Names are resolved as the machine does it.
import { resolveHost } from '../../../../src/lib/net/resolve'

test('names of this machine and addresses have an address, an empty name has none', async () => {
  expect(await resolveHost('localhost', 4)).toEqual({ ip: '127.0.0.1' })
  expect(await resolveHost('127.0.0.9')).toEqual({ ip: '127.0.0.9' })
  expect(await resolveHost('')).toEqual({ error: 'an empty name is the name of nothing' })
})
