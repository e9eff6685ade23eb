// The network of nodes, on machines with systemd: a cluster that is reached by IPv6, and guests on a bridge and behind routes. The tests go
// on where the one before has left off.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { linuxGuestPresent, linuxGuestSkipped } from '../system/linux-guest'
import { testWith } from '../support/needs'
import { inGuest, linuxGuest } from './guests'
import { CLUSTER, Machines, NEEDED, SHARED, missing, nameOf } from './machines'
import { buildGantry, buildNode } from './packages'

const present = missing.length === 0 && linuxGuestPresent
const machineTest = testWith(present, linuxGuestPresent ? NEEDED : linuxGuestSkipped)
const NODES = [1, 2] as const
/** It is in no cluster. */
const OUTSIDE = 3
const addressOf = (machine: number): string => `fd00:88::${machine}`
const CLUSTER_ADDRESS = 'fd00:88::10'
const ROUTED = { table: '100', ip: '192.0.2.50', ip6: 'fd00:99::50' }
/** The node's part of a table for guests, which is its administrator's: how guests reach others, and others reach guests. */
const TABLE = [
  ...['ip route replace default via 10.88.0.3', `ip rule add iif br0 table ${ROUTED.table}`],
  ...[`ip route add 192.0.2.0/24 dev br0 table ${ROUTED.table}`, `ip -6 rule add iif br0 table ${ROUTED.table}`],
  ...[`ip -6 route add fd00:88::/64 dev br0 table ${ROUTED.table}`, 'sysctl -qw net.ipv4.conf.br0.proxy_arp=1'],
  ...['sysctl -qw net.ipv4.conf.br0.forwarding=1', 'sysctl -qw net.ipv6.conf.all.forwarding=1'],
].join(' && ')

let machines: Machines
let folder: string
let hypervisor: (...addresses: readonly string[]) => string
beforeAll(async () => {
  if (!present) return
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gp-'))
  const names = [1, 2, 3].map((machine) => `${addressOf(machine)} ${nameOf(machine)} node${machine}`)
  machines = new Machines([...names, `${CLUSTER_ADDRESS} ${CLUSTER}`])
  await machines.install([buildNode(folder), ...buildGantry(folder, '0.1.0')])
  await Promise.all([...NODES, OUTSIDE].map((machine) => machines.start(machine)))
  hypervisor = linuxGuest(machines, folder)
})
afterAll(async () => {
  await machines?.remove()
  if (folder !== undefined) fs.rmSync(folder, { recursive: true })
})

const reaches = (machine: number, address: string) =>
  machines.until(machine, `ping -c 1 -W 1 ${address}`, ({ code }) => code === 0)
const errors = async () =>
  (await machines.attempt(1, 'gnt-cluster verify')).output.split('\n').filter((line) => line.includes('ERROR'))
const add = (guest: string, nic: string, ...addresses: readonly string[]) =>
  machines.run(
    1,
    `gnt-instance add -t sharedfile --disk 0:size=1g -o gantry-tiny -B memory=128m --no-ip-check --no-name-check ` +
      `-H 'kvm:${hypervisor(...addresses)}' -n ${nameOf(1)} --net 0:${nic} ${guest}`,
  )
const tapOf = async (machine: number, guest: string, nic: number) =>
  (await machines.run(machine, `cat /run/ganeti/kvm-hypervisor/nic/${guest}/${nic}`)).trim()
/** Rules of both versions of IP that name a tap device. */
const rules = async (machine: number) =>
  [await machines.run(machine, 'ip -4 rule'), await machines.run(machine, 'ip -6 rule')]
    .join('\n')
    .split('\n')
    .filter((line) => line.includes('iif tap'))

machineTest('a cluster is made that is reached by IPv6, and a bare machine joins it', async () => {
  for (const machine of [...NODES, OUTSIDE])
    await machines.run(machine, `ip address add ${addressOf(machine)}/64 dev br0 nodad`)
  for (const machine of NODES) await machines.run(machine, `echo ${SHARED} > /etc/ganeti/file-storage-paths`)
  const init = '--primary-ip-version=6 -s 10.88.0.1 --master-netdev=br0 --nic-parameters link=br0'
  await machines.run(1, `gnt-cluster init ${init} ${CLUSTER}`)
  const key = await machines.run(1, 'cat /root/.ssh/id_rsa.pub')
  await machines.run(2, `mkdir -p -m 700 /root/.ssh && echo '${key.trim()}' > /root/.ssh/authorized_keys`)
  await machines.run(1, `gnt-node add --no-ssh-key-check -s 10.88.0.2 ${nameOf(2)}`)
  expect(await errors()).toEqual([])
  expect(await machines.run(1, 'gnt-node list --no-headers --separator=, -o pip,sip')).toBe(
    `${addressOf(1)},10.88.0.1\n${addressOf(2)},10.88.0.2\n`,
  )
  expect(await machines.run(1, 'gnt-cluster command -n node2 hostname')).toContain(nameOf(2))
  expect(await machines.run(1, 'ip -6 address show dev br0')).toMatch(/fd00:88::10\/\d+ scope global .*deprecated/)
})

machineTest(
  'the remote API of such a cluster answers others, also after another node has become the master',
  async () => {
    const ask = `require('https').get({ host: '${CLUSTER_ADDRESS}', port: 5080, path: '/version', rejectUnauthorized: false }, (answer) => console.log(answer.statusCode))`
    expect(await machines.run(OUTSIDE, `node -e "${ask}"`)).toBe('401\n')
    await machines.run(2, 'gnt-cluster master-failover')
    expect(await machines.run(OUTSIDE, `node -e "${ask}"`)).toBe('401\n')
    await machines.run(1, 'gnt-cluster master-failover')
  },
)

machineTest('a guest of a network of IPv6 is reached from outside, and where it has moved to', async () => {
  const network = '--network=198.51.100.0/24 --network6=fd00:77::/64 --gateway6=fd00:77::1'
  await machines.run(1, `gnt-network add ${network} net6 && gnt-network connect --nic-parameters=link=br0 net6`)
  await add('vm6', 'network=net6,ip=pool', 'fd00:77::50/64')
  expect(await machines.run(1, 'gnt-network info net6')).toMatch(/fd00:77::\/64/)
  await machines.run(OUTSIDE, 'ip address add fd00:77::3/64 dev br0 nodad')
  await reaches(OUTSIDE, 'fd00:77::50')
  await machines.run(1, `gnt-instance migrate -f -n ${nameOf(2)} vm6`)
  await reaches(OUTSIDE, 'fd00:77::50')
  await machines.run(1, 'gnt-instance remove -f --shutdown-timeout=0 vm6')
})

machineTest('a routed NIC is reached through a table of its own, and its node answers ARP for both sides', async () => {
  await machines.run(1, 'sysctl -qw net.ipv4.ip_forward=0')
  const said = await add('vmr', `mode=routed,link=${ROUTED.table},ip=${ROUTED.ip}`, `${ROUTED.ip}/24`)
  expect(said).toContain('NIC 0 is reached by its node only, since this node forwards no packets of IPv4')
  for (const machine of NODES) await machines.run(machine, TABLE)
  await machines.run(OUTSIDE, 'ip address add 192.0.2.3/24 dev br0')
  await reaches(OUTSIDE, ROUTED.ip)
  const tap = await tapOf(1, 'vmr', 0)
  expect(await rules(1)).toEqual([expect.stringMatching(`iif ${tap} lookup ${ROUTED.table}`)])
  expect(await machines.run(1, `ip route show table ${ROUTED.table}`)).toContain(`${ROUTED.ip} dev ${tap} proto static`)
  expect(await machines.run(1, 'ip route')).not.toContain(ROUTED.ip)
  // The node's own address of hardware is what both sides find.
  const hardware = async (device: string) => (await machines.run(1, `cat /sys/class/net/${device}/address`)).trim()
  expect(await machines.run(OUTSIDE, `ip neigh show ${ROUTED.ip}`)).toContain(await hardware('br0'))
  const observed = await inGuest(machines, 1, 'vmr', 'ip neigh show 192.0.2.3; echo SE""EN', 'SEEN')
  expect(observed).toContain(await hardware(tap))
})

machineTest('a routed NIC of IPv6 that comes while the guest runs is reached, too', async () => {
  const nic = `mode=routed,link=${ROUTED.table},ip=${ROUTED.ip6}`
  expect(await machines.run(1, `gnt-instance modify --net add:${nic} vmr`)).not.toContain('reached by its node only')
  await routeGuest(1)
  await reaches(OUTSIDE, ROUTED.ip6)
  expect(await rules(1)).toHaveLength(2)
})

/** The guest sends through the address that its node has on the cable between them. */
async function routeGuest(machine: number): Promise<void> {
  const [, { router }] = await gatewaysOn(machine)
  // It may come a moment later than its command ends.
  const up = 'until ip link set eth1 up 2>/dev/null; do sleep 0.1; done'
  const lines = [up, `ip address replace ${ROUTED.ip6}/128 dev eth1`]
  const all = [...lines, `ip -6 route replace default via ${router} dev eth1`, 'echo ROU""TED'].join('; ')
  await inGuest(machines, machine, 'vmr', all, 'ROUTED')
  await machines.run(OUTSIDE, `ip -6 route replace fd00:99::/64 via ${addressOf(machine)}`)
}

interface Gateway {
  readonly hardware: string
  /** With IPv6. */
  readonly router: string
}

/** What the guest takes for its gateway, on each NIC. */
async function gatewaysOn(machine: number): Promise<[Gateway, Gateway]> {
  const gateway = async (nic: number) => {
    const tap = await tapOf(machine, 'vmr', nic)
    const displayed = await machines.run(machine, `ip -6 -o address show dev ${tap} scope link`)
    const hardware = (await machines.run(machine, `cat /sys/class/net/${tap}/address`)).trim()
    return { hardware, router: /fe80::[\da-f:]+/.exec(displayed)?.[0] ?? '' }
  }
  return [await gateway(0), await gateway(1)]
}

machineTest('routes and rules move with the guest, whose gateway stays the same, and go with it', async () => {
  const gateways = await gatewaysOn(1)
  await machines.run(1, `gnt-instance migrate -f -n ${nameOf(2)} vmr`)
  expect(await gatewaysOn(2)).toEqual(gateways)
  expect(await rules(1)).toEqual([])
  expect(await machines.run(1, `ip route show table ${ROUTED.table}`)).not.toContain(ROUTED.ip)
  // The outside learns the way to the guest's new node. The guest goes on with what it knows of its gateway.
  await machines.run(OUTSIDE, `ip -6 route replace fd00:99::/64 via ${addressOf(2)}; ip neigh flush dev br0`)
  for (const address of [ROUTED.ip, ROUTED.ip6]) await reaches(OUTSIDE, address)
  const known = await inGuest(machines, 2, 'vmr', 'ip neigh; echo SE""EN', 'SEEN')
  for (const { hardware } of gateways) expect(known).toContain(hardware)
  await machines.run(1, 'gnt-instance modify --net 1:remove vmr')
  expect(await rules(2)).toHaveLength(1)
  await machines.run(1, 'gnt-instance shutdown --timeout=0 vmr')
  expect(await rules(2)).toEqual([])
  expect(await errors()).toEqual([])
})
