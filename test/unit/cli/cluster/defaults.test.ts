// The network that gnt-cluster init takes where nobody names one; test/unit/cli/cluster/init.test.ts has the rest.
import type { NewNode } from '../../../../src/cli/command'
import { defaultsFor } from '../../../../src/cli/cluster/defaults'
import type { OptionValues } from '../../../../src/cli/input/option-values'
import { pathsOf } from '../../../../src/lib/paths'

const NAME = 'node1.example.com'

/** A machine with these devices; those of `bridges` are some. */
function machine(devices: Readonly<Record<string, string>>, bridges: readonly string[] = [], root = '') {
  const displayed = [...Object.keys(devices), ...bridges]
  const present = [
    ...displayed.map((name) => `/sys/class/net/${name}`),
    ...bridges.map((name) => `/sys/class/net/${name}/bridge`),
  ]
  return {
    paths: pathsOf(root, NAME),
    disk: { read: async () => Buffer.from(`192.0.2.1\t${NAME} node1\n`) },
    files: { existsSync: (file: string) => present.includes(file) },
    networkInterfaces: () =>
      Object.fromEntries(
        Object.entries(devices).map(([name, address]) => [name, [{ address, internal: name === 'lo' }]]),
      ),
    volumeGroups: async () => [],
    storageDirectory: async () => '',
  } as unknown as NewNode
}

async function proposed(node: NewNode, netdev?: string, nicparams?: Readonly<Record<string, string>>) {
  const notes: string[] = []
  const options = {
    text: (name: string) => (name === 'master_netdev' ? netdev : undefined),
    list: () => [],
    keyValues: () => nicparams,
  } as unknown as OptionValues
  const found = await defaultsFor(options, node, (text) => void notes.push(text))
  return { netdev: found.netdev, bridge: found.bridge, notes }
}

test("the device with the node's address has the cluster's, and NICs the bridge that it is", async () => {
  const node = machine({ lo: '127.0.0.1', eth1: '198.51.100.1', br0: '192.0.2.1' }, ['br0', 'br1'])
  expect(await proposed(node)).toEqual({
    ...{ netdev: 'br0', bridge: 'br0', notes: ['Master network device: br0', 'Bridge of NICs: br0'] },
  })
  expect(await proposed(node, 'eth1')).toMatchObject({ netdev: 'eth1', bridge: 'xen-br0', notes: [] })
  expect((await proposed(node, undefined, { link: 'br1' })).notes).toEqual(['Master network device: br0'])
})

test('a machine with one way out leaves no question, and a bridge beside it is not taken', async () => {
  const node = machine({ lo: '127.0.0.1', eth0: '198.51.100.1' }, ['docker0'])
  expect(await proposed(node)).toMatchObject({ netdev: 'eth0', bridge: 'xen-br0' })
})

test("Ganeti's defaults stay where their bridge is, where nothing is known, and on virtual nodes", async () => {
  const standard = { netdev: 'xen-br0', bridge: 'xen-br0', notes: [] }
  expect(await proposed(machine({ eth0: '192.0.2.1' }, ['xen-br0']))).toEqual(standard)
  expect(await proposed(machine({ eth0: '198.51.100.1', eth1: '198.51.100.2' }))).toEqual(standard)
  expect(await proposed(machine({ eth0: '192.0.2.1' }, [], `/tmp/${NAME}`))).toEqual(standard)
})
