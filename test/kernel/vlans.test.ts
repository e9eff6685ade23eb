// VLANs on bridges of a real kernel: two machines of Debian's kernel, whose bridges tell VLANs apart and hang on one cable. The product makes
// the tap devices and joins them. Network namespaces are behind these in the place of guests, and make devices for the VLANs that they are sent.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { root } from '../support/source-tree'
import { testWith } from '../support/needs'
import { busybox, linuxGuestPresent, linuxGuestSkipped } from '../system/linux-guest'
import { Machines, NEEDED, PATIENCE_S, present, until } from './machines'

jest.setTimeout(PATIENCE_S * 1000)
const vlanTest = testWith(present && linuxGuestPresent, present ? linuxGuestSkipped : NEEDED)
const BRIDGE = 'br1'
const PING = linuxGuestPresent ? `${fs.realpathSync(busybox)} ping` : ''
const NODES = [1, 2] as const

interface Guest {
  readonly node: (typeof NODES)[number]
  readonly vlan: string
  /** With the tag of its packets from there, if they have one. */
  readonly addresses: readonly (readonly [address: string, tag?: number])[]
}
/** Addresses without a tag are of one network. */
const GUESTS: Readonly<Record<string, Guest>> = {
  plain: { node: 1, vlan: '', addresses: [['192.0.2.1/24']] },
  ten: { node: 1, vlan: '.10', addresses: [['192.0.2.2/24'], ['203.0.113.2/27']] },
  twenty: { node: 1, vlan: '.20', addresses: [['192.0.2.3/24'], ['203.0.113.102/27']] },
  hybrid: {
    node: 1,
    vlan: '.10:20',
    addresses: [['192.0.2.4/24'], ['203.0.113.104/27', 20], ['203.0.113.204/27', 30]],
  },
  plain2: { node: 2, vlan: '', addresses: [['192.0.2.5/24']] },
  ten2: { node: 2, vlan: '.10', addresses: [['192.0.2.6/24']] },
  twenty2: { node: 2, vlan: '.20', addresses: [['192.0.2.7/24']] },
  trunk: {
    node: 2,
    vlan: ':10:20',
    addresses: [['192.0.2.8/24'], ['203.0.113.8/27', 10], ['203.0.113.108/27', 20], ['203.0.113.208/27', 30]],
  },
}

let machines: Machines
beforeAll(async () => {
  if (!present || !linuxGuestPresent) return
  machines = await Machines.with(NODES.length, 'gantry', async (all) => {
    await Promise.all(NODES.map((node) => all.ready(node)))
    for (const node of NODES) await all.inGuest(node, BRIDGED)
  })
  for (const node of NODES) {
    await join(node, guestsOf(node).map(([name, { vlan }]) => ({ tap: `tap-${name}`, vlan }))) // prettier-ignore
    await machines.inGuest(node, guestsOf(node).map(([name, guest]) => start(name, guest)).join('\n')) // prettier-ignore
  }
})
afterAll(() => machines?.remove())

const guestsOf = (node: number) => Object.entries(GUESTS).filter(([, guest]) => guest.node === node)

/** Moves the machine's own address to a bridge, in one go: without it nobody reaches the machine. */
const BRIDGED = [
  ...['set -e', 'modprobe -a tun bridge 8021q', `ip link add ${BRIDGE} type bridge vlan_filtering 1`],
  ...[`address=$(ip -4 -o address show dev eth0 | awk '{ print $4 }')`, `ip link set ${BRIDGE} up`],
  ...[`ip link set eth0 master ${BRIDGE}`, 'ip address del $address dev eth0', `ip address add $address dev ${BRIDGE}`],
].join('\n')

const built = (file: string): string => `require(${JSON.stringify(path.join(root, 'dist', file))})`

/** Makes tap devices and joins them to the bridge as for NICs of instances. Returns what the product says of each that it refuses. */
async function join(node: number, nics: readonly { readonly tap: string; readonly vlan: string }[]): Promise<string> {
  const code = `
    const { Taps } = ${built('node/network/taps.js')}
    const taps = new Taps({ ...${built('lib/machine.js')}.thisMachine, paths: ${built('lib/paths.js')}.pathsOf('', 'node') })
    void (async () => {
      for (const { tap, vlan } of ${JSON.stringify(nics)}) {
        await taps.make(tap, undefined, [])
        const nic = { uuid: tap, mac: 'aa:00:00:00:00:01', nicparams: { mode: 'bridged', link: '${BRIDGE}', vlan } }
        await taps.connect({ name: 'vm' }, nic, 0, tap).catch((error) => console.log(error.message))
      }
    })()`
  return machines.inGuest(node, `node - <<'END'\n${code}\nEND`)
}

/** Lines of a shell that put a network namespace behind a guest's tap device. */
function start(name: string, { addresses }: Guest): string {
  const devices = addresses.flatMap(([address, tag]) => {
    const device = tag === undefined ? 'eth0' : `eth0.${tag}`
    const tagging = [`link add link eth0 name ${device} type vlan id ${tag}`, `link set ${device} up`]
    const words = [...(tag === undefined ? [] : tagging), `address add ${address} dev ${device}`]
    return words.map((line) => `ip -n ${name} ${line}`)
  })
  const log = `/run/cable-${name}`
  const cable = `setsid python3 ${path.join(__dirname, 'cable.py')} tap-${name} ${name} < /dev/null > ${log} 2>&1 &`
  return ['set -e', cable, `until grep -q ready ${log}; do sleep 0.1; done`, ...devices].join('\n')
}

/** Which of these addresses the guest reaches. It asks all at once, because one that does not answer takes a while. */
async function reached(name: string, addresses: readonly string[]): Promise<string[]> {
  const pings = addresses.map(
    (address) => `(ip netns exec ${name} ${PING} -q -c 3 -W 3 ${address} > /dev/null 2>&1 && echo ${address}) &`,
  )
  const said = await machines.inGuest(GUESTS[name]?.node ?? 1, `${pings.join('\n')}\nwait`)
  return said.split('\n').filter(Boolean).sort()
}

const addressesOf = (names: readonly string[], prefix: string): string[] =>
  names
    .flatMap((name) => GUESTS[name]?.addresses ?? [])
    .flatMap(([address]) => (address.startsWith(prefix) ? [address.split('/')[0] ?? ''] : []))
    .sort()
const untagged = (...names: readonly string[]) => addressesOf(names, '192.0.2.')
const EVERYBODY = Object.keys(GUESTS)

async function reachesOnly(name: string, those: readonly string[], all: readonly string[]): Promise<void> {
  // Whoever has just been plugged in may need a moment.
  await until(`${name} reaches others`, 20, async () => (await reached(name, those)).length === those.length)
  expect(await reached(name, all)).toEqual(those)
}

const WITHOUT_TAG = {
  plain: untagged('plain', 'plain2'),
  ten: untagged('ten', 'ten2', 'hybrid'),
  twenty2: untagged('twenty', 'twenty2'),
  hybrid: untagged('ten', 'ten2', 'hybrid'),
  trunk: untagged('trunk'),
}
for (const [name, those] of Object.entries(WITHOUT_TAG))
  vlanTest(`without a tag, "${name}" reaches the guests of its VLAN on both machines, and nobody else`, () =>
    reachesOnly(name, those, untagged(...EVERYBODY)),
  )

const WITH_TAGS = {
  trunk: ['203.0.113.2', '203.0.113.102', '203.0.113.104'],
  hybrid: ['203.0.113.102', '203.0.113.108'],
}
for (const [name, those] of Object.entries(WITH_TAGS))
  vlanTest(`with tags, "${name}" reaches the guests of the VLANs that its NIC names, and not those of others`, () =>
    reachesOnly(name, [...those, ...addressesOf([name], '203.')].sort(), addressesOf(EVERYBODY, '203.')),
  )

vlanTest('a VLAN that an interface of the machine takes is refused, and others are not', async () => {
  await machines.inGuest(1, 'ip link add link eth0 name eth0.40 type vlan id 40')
  const said = await join(1, [
    { tap: 'tap-taken', vlan: '.40' },
    { tap: 'tap-free', vlan: '.50' },
  ])
  expect(said.trim()).toBe(
    `A NIC asks for VLAN 40, which the interface eth0.40 of this node takes, so that bridge ${BRIDGE} would never hear it`,
  )
})
