// NICs in a real Open vSwitch: its daemons forward in user space, in a network of their own, so that no module of the kernel is needed.
import type { ChildProcess } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'
import { SerialConsole, eventually } from '../support/hypervisor'
import { qemuPresent, testWith } from '../support/needs'
import { linuxGuestPresent, linuxGuestSkipped, linuxKernel, writeInitrd } from '../system/linux-guest'
import { Sandbox, until } from './sandbox'

const PROGRAMS = ['/usr/bin/ovs-vsctl', '/usr/sbin/ovs-vswitchd', '/usr/sbin/ovsdb-server', '/dev/net/tun']
const installed = process.getuid?.() === 0 && qemuPresent && PROGRAMS.every((file) => fs.existsSync(file))
const present = installed && linuxGuestPresent
const switchTest = testWith(
  present,
  installed ? linuxGuestSkipped : 'qemu-system-x86 openvswitch-switch (as root, where /dev/net/tun is)',
)
/** Leads to other machines, and takes large packets. */
const UPLINK = 'up0'
const DIRECTORY = '/run/openvswitch'

let sandbox: Sandbox
let cluster: EmbeddedCluster
let daemon: ChildProcess
beforeAll(async () => {
  if (!present) return
  sandbox = new Sandbox(['/run'])
  await sandbox.order('mkdir', DIRECTORY)
  // Otherwise it shows the devices of another network.
  await sandbox.order('mount', '-t', 'sysfs', 'sys', '/sys')
  const schema = '/usr/share/openvswitch/vswitch.ovsschema'
  await sandbox.order('ovsdb-tool', 'create', `${DIRECTORY}/conf.db`, schema)
  const remote = `--remote=punix:${DIRECTORY}/db.sock`
  sandbox.daemon('ovsdb-server', `${DIRECTORY}/conf.db`, remote, `--unixctl=${DIRECTORY}/db.ctl`)
  await until('the database serves', 30, async () => (await sandbox.run(['ovs-vsctl', '--no-wait', 'init'])).code === 0)
  daemon = sandbox.daemon('ovs-vswitchd', `unix:${DIRECTORY}/db.sock`, `--unixctl=${DIRECTORY}/switch.ctl`)
  await vsctl('add-br', 'switch1', '--', 'set', 'Bridge', 'switch1', 'datapath_type=netdev')
  await sandbox.order('ip', 'link', 'add', UPLINK, 'mtu', '9000', 'type', 'veth', 'peer', 'name', 'far0')
  cluster = await startCluster(['--hypervisor', 'kvm', '--nodes', '2'], { enter: sandbox.enter })
  writeInitrd(path.join(cluster.root, 'initrd'))
})
afterAll(async () => {
  SerialConsole.closeAll()
  await cluster?.remove()
  await sandbox?.remove()
})

const vsctl = (...words: string[]): Promise<string> => sandbox.order('ovs-vsctl', '--timeout=30', ...words)
const words = async (text: Promise<string>): Promise<string[]> => (await text).split('\n').filter((word) => word !== '')
const ports = (): Promise<string[]> => words(vsctl('list-ports', 'switch1'))
const taps = async (): Promise<string[]> => (await ports()).filter((port) => port !== UPLINK)

async function ended(...command: string[]) {
  const { code, stdout, stderr } = await cluster.gnt(...command)
  return { code, output: stdout + stderr }
}

async function ok(...command: string[]): Promise<string> {
  const { code, output } = await ended(...command)
  if (code !== 0) throw new Error(`gnt ${command.join(' ')} ended with ${code}: ${output}`)
  return output
}

/** A Linux guest without a disk. */
async function add(name: string, node: string, address: string, nic: string): Promise<string> {
  const initrd = path.join(cluster.root, 'initrd')
  const args = `quiet panic=-1 mitigations=off guest-address=${address}/24`
  const kernel = `kernel_path=${linuxKernel},initrd_path=${initrd},kernel_args=${args},serial_speed=115200`
  return ok(
    ...['instance', 'add', '-t', 'diskless', '-o', 'gantry-tiny', '-B', 'memory=128m', '-H', `kvm:${kernel}`],
    ...['-n', node, '--net', `0:${nic}`, name],
  )
}

const local = (node: string, name: string) => path.join(cluster.root, `${node}.gantry.local`, 'var/run/ganeti', name)
const guestPid = (node: string, name: string) => Number(fs.readFileSync(local(node, `kvm-hypervisor/pid/${name}`), 'utf8')) // prettier-ignore
/** The tap device of a guest's NIC. */
const tapOf = (node: string, name: string, nic = 0) => fs.readFileSync(local(node, `kvm-hypervisor/nic/${name}/${nic}`), 'utf8').trim() // prettier-ignore

/** What the guest's shell prints. A console has one listener. */
async function inGuest(node: string, name: string, command: string): Promise<string> {
  SerialConsole.closeAll()
  const file = local(node, `kvm-hypervisor/ctrl/${name}.serial`)
  const console = await eventually(() => SerialConsole.open(file).catch(() => undefined))
  // A guest that still boots has no shell that would answer.
  return eventually(
    async () => {
      console.text = ''
      console.type(`echo BE''GIN; ${command}; echo DO''NE\n`)
      const [, said = ''] = (await console.expect(/BEGIN([\s\S]*)DONE/, 15).catch(() => [])) as string[]
      return said === '' ? undefined : said
    },
    60,
    () => `an answer of ${name}`,
  )
}

/** Whether the guest reaches the address; it may need a moment to be there. */
async function reaches(node: string, name: string, address: string): Promise<boolean> {
  return !/100% packet loss/.test(await inGuest(node, name, `ping -c 5 -i 0.2 -w 3 ${address}`))
}

/** What the switch does with a packet of a VLAN from this port; undefined for one without a tag. */
async function isTaken(port: string, vlan: number | undefined): Promise<boolean> {
  const tag = vlan === undefined ? '' : `,dl_vlan=${vlan}`
  const trace = ['ofproto/trace', 'switch1', `in_port=${port}${tag},dl_src=aa:00:00:00:00:77,dl_dst=ff:ff:ff:ff:ff:ff`]
  const said = await sandbox.order('ovs-appctl', '-t', `${DIRECTORY}/switch.ctl`, ...trace)
  return !/Datapath actions: drop/.test(said)
}

switchTest('a node that joins has the switch and its uplink, or does not join', async () => {
  const without = 'ovs=true,ovs_name=switch1,ovs_link=up9'
  const refused = await ended('node', 'add', '--node-parameters', without, 'node3')
  expect(refused).toEqual({ code: 1, output: expect.stringContaining('connect openvswitch to interface up9: ') })
  expect(refused.output).toMatch(
    /on new node node3\.gantry\.local: .*could not open network device up9 \(No such device\)/,
  )
  expect(await ports()).toEqual([])
  expect(await ok('node', 'list', '--no-headers', '-o', 'name')).not.toContain('node3')

  await ok('node', 'add', '--node-parameters', without.replace('up9', UPLINK), 'node3')
  expect(await ports()).toEqual([UPLINK])
  expect(await ok('node', 'list', '--no-headers', '-o', 'ndp/ovs_link', 'node3')).toContain(UPLINK)
})

switchTest('the master makes its own when the cluster is made, and may do so again', async () => {
  await ok('cluster', 'modify', '--node-parameters', `ovs=true,ovs_name=switch1,ovs_link=${UPLINK}`)
  await vsctl('del-port', UPLINK)
  for (let times = 0; times < 2; times++) {
    expect(await cluster.run({ OP_ID: 'OP_CLUSTER_POST_INIT' })).toMatchObject({ status: 'success' })
    expect(await ports()).toEqual([UPLINK])
  }
})

switchTest('guests with the same tag reach each other, whatever becomes of their NICs', async () => {
  const nic = 'mode=openvswitch,link=switch1,vlan=.10'
  await Promise.all([add('vm1', 'node1', '192.0.2.1', nic), add('vm2', 'node2', '192.0.2.2', nic)])
  expect(await taps()).toHaveLength(2)
  expect((await vsctl('get', 'Port', tapOf('node1', 'vm1'), 'tag', 'trunks')).split('\n')).toEqual(['10', '[]', ''])
  expect(await sandbox.order('cat', '/sys/class/net/switch1/mtu')).toBe('9000\n')
  await until('guests reach each other', 30, () => reaches('node1', 'vm1', '192.0.2.2'))

  // The guest gets a new device, without an address.
  const modify = async (vlan: string) => {
    await ok('instance', 'modify', '--net', `0:modify,vlan=${vlan}`, 'vm2')
    const [up, address] = ['ip link set eth0 up', 'ip address add 192.0.2.2/24 dev eth0']
    await inGuest('node2', 'vm2', `until ${up} 2>/dev/null; do sleep 0.1; done; ${address}`)
    expect(await taps()).toHaveLength(2)
  }
  await modify('.20')
  expect(await reaches('node1', 'vm1', '192.0.2.2')).toBe(false)
  await modify('.10:20')
  await until('they reach each other again', 30, () => reaches('node1', 'vm1', '192.0.2.2'))
  const port = tapOf('node2', 'vm2')
  expect((await vsctl('get', 'Port', port, 'tag', 'trunks')).split('\n')).toEqual(['10', '[20]', ''])
  expect([await isTaken(port, undefined), await isTaken(port, 20), await isTaken(port, 30)]).toEqual([
    true,
    true,
    false,
  ])

  await ok('instance', 'migrate', '-f', '-n', 'node3', 'vm1')
  expect(await taps()).toHaveLength(2)
  expect(await reaches('node3', 'vm1', '192.0.2.2')).toBe(true)
})

switchTest('a NIC that comes while the guest runs is a trunk, and is gone from the switch when it goes', async () => {
  const before = await taps()
  await ok('instance', 'modify', '--net', 'add:mode=openvswitch,link=switch1,vlan=:10:30', 'vm2')
  const port = tapOf('node2', 'vm2', 1)
  expect((await taps()).filter((tap) => !before.includes(tap))).toEqual([port])
  const taken = await Promise.all([undefined, 10, 20, 30].map((vlan) => isTaken(port, vlan)))
  expect(taken).toEqual([false, true, false, true])
  await ok('instance', 'modify', '--net', '1:remove', 'vm2')
  expect((await taps()).sort()).toEqual(before.sort())
})

switchTest('guests and node daemons that are killed leave no port', async () => {
  // As after a machine's loss of power: the switch remembers a device that is gone.
  await vsctl('add-port', 'switch1', 'tap-gone', '--', 'set', 'Port', 'tap-gone', 'external_ids:gantry-nic=other')
  process.kill(guestPid('node3', 'vm1'), 'SIGKILL')
  await ok('instance', 'startup', 'vm1')
  expect((await taps()).sort()).toEqual([tapOf('node3', 'vm1'), tapOf('node2', 'vm2')].sort())

  const noded = () => fs.readFileSync(local('node2', 'ganeti-noded.pid'), 'utf8')
  const killed = noded()
  process.kill(Number(killed), 'SIGKILL')
  await until('another daemon runs', 30, () => Promise.resolve(noded() !== killed))
  await ok('instance', 'shutdown', '--timeout=0', 'vm2')
  expect(await taps()).toEqual([tapOf('node3', 'vm1')])
})

switchTest('a NIC that the switch cannot take is told with the way out', async () => {
  await ok('instance', 'modify', '--net', '0:modify,link=switch9', 'vm2')
  const missing = 'there is no switch switch9 of Open vSwitch on this node (ovs-vsctl add-br switch9 makes it)'
  expect(await ok('instance', 'startup', 'vm2')).toContain(missing)
  expect(await taps()).toEqual([tapOf('node3', 'vm1')])
  await ok('instance', 'shutdown', '--timeout=0', 'vm2')

  await ok('instance', 'modify', '--net', '0:modify,link=switch1', 'vm2')
  await sandbox.end(daemon)
  const silent = await ended('instance', 'startup', 'vm2')
  expect(silent).toEqual({ code: 1, output: expect.stringMatching(/NIC 0 \(.*\) of instance vm2\S* on node node2\S*: Failed to join the switch switch1: /) }) // prettier-ignore
  expect(silent.output).toContain('did not answer within 10 s (systemctl restart openvswitch-switch)')
  expect(await vsctl('--no-wait', 'list-ports', 'switch1')).toBe(`${[tapOf('node3', 'vm1'), UPLINK].sort().join('\n')}\n`) // prettier-ignore
})
