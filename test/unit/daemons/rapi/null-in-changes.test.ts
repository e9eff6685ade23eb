// In a change, null takes a value away, or the request is refused: no change answers as if it had done something.
import { objectVerbs, opcodeOf } from '../../../../src/daemons/rapi/v3/object-verbs'

const changes = objectVerbs.filter(({ verb }) => verb === 'patch')
const parts = { name: 'x', storage_type: 'file' }

test.each(
  changes.flatMap((entry) =>
    Object.keys(entry.opcode.params)
      .filter((name) => !Object.hasOwn(entry.address(parts), name))
      .map((name) => [entry.path, name, entry] as const),
  ),
)('%s with null for %s', (_path, name, entry) => {
  const read = () => opcodeOf(entry, parts, { [name]: null })
  if (Object.hasOwn(entry.cleared, name)) expect(read()).toMatchObject({ [name]: 'none' })
  else expect(read).toThrow(expect.objectContaining({ status: 400 }))
})

test('a network loses its gateways, its IPv6 part and its prefix in this way', () => {
  const [network] = changes.filter(({ path }) => path.startsWith('/3/networks'))
  expect(Object.keys(network?.cleared ?? {})).toEqual(['gateway', 'network6', 'gateway6', 'mac_prefix'])
})
