// Open vSwitch is configured with its own program.
import type { CommandResult } from '../../../../src/lib/programs/run-command'
import { configureOpenvSwitch, joinSwitch, noSwitch } from '../../../../src/node/network/open-vswitch'
import { notInstalled, recordedPrograms } from '../../../support/recorded-programs'
import { shownFiles } from '../../../support/shown-files'

const ADD = 'ovs-vsctl --may-exist add-br switch1'

test('a switch is made, and joined to a device if one is named', async () => {
  const programs = recordedPrograms([
    { argv: ADD },
    { argv: ADD },
    { argv: 'ovs-vsctl --may-exist add-port switch1 eth1' },
  ])
  await configureOpenvSwitch(programs.run, 'switch1', null)
  await configureOpenvSwitch(programs.run, 'switch1', 'eth1')
  expect(programs.left()).toEqual([])
})

test('a failure is told with the words of the program, and the rest is left', async () => {
  const stderr =
    'ovs-vsctl: unix:/var/run/openvswitch/db.sock: database connection failed (No such file or directory)\n'
  const { run, asked: requested } = recordedPrograms([{ argv: ADD, code: 1, stderr }])
  await expect(configureOpenvSwitch(run, 'switch1', 'eth1')).rejects.toThrow(
    `Failed to create openvswitch switch1: ${stderr.trim()} (systemctl restart openvswitch-switch)`,
  )
  expect(requested.length).toBe(1)
  const join = recordedPrograms([
    { argv: ADD },
    {
      argv: 'ovs-vsctl --may-exist add-port switch1 eth1',
      code: 1,
      stderr: 'ovs-vsctl: cannot create a port named eth1 because a bridge named eth1 already exists\n',
    },
  ])
  await expect(configureOpenvSwitch(join.run, 'switch1', 'eth1')).rejects.toThrow(
    'Failed to connect openvswitch to interface eth1: ovs-vsctl: cannot create a port named eth1 because',
  )
})

test('a text that is no name of an interface reaches no program', async () => {
  const { run } = recordedPrograms([])
  for (const [name, link] of [
    ['-h', null],
    ['switch1', '../eth1'],
    ['a b', 'eth1'],
  ] as const)
    // prettier-ignore
    await expect(configureOpenvSwitch(run, name, link)).rejects.toThrow('Invalid name of a network interface')
})

/** As it is printed with exit code 0. */
const notSetUp = (name: string, why: string): string =>
  `ovs-vsctl: Error detected while setting up '${name}'${why}.  See ovs-vswitchd log for details.\n` +
  'ovs-vsctl: The default log directory is "/var/log/openvswitch".\n'

test('what the switch could not set up is a failure, and is taken back', async () => {
  const bridge = recordedPrograms([
    { argv: ADD, stderr: notSetUp('switch1', '') },
    { argv: 'ovs-vsctl --if-exists del-br switch1' },
  ])
  await expect(configureOpenvSwitch(bridge.run, 'switch1', 'eth1')).rejects.toThrow(
    "Failed to create openvswitch switch1: Error detected while setting up 'switch1'. Load its module of the kernel " +
      '(modprobe openvswitch), or first make a switch that needs none: ovs-vsctl add-br switch1 -- set Bridge switch1 datapath_type=netdev',
  )
  expect(bridge.left()).toEqual([])
  const why = ': could not open network device eth1 (No such device)'
  const port = recordedPrograms([
    { argv: ADD },
    { argv: 'ovs-vsctl --may-exist add-port switch1 eth1', stderr: notSetUp('eth1', why) },
    { argv: 'ovs-vsctl --if-exists del-port switch1 eth1' },
  ])
  await expect(configureOpenvSwitch(port.run, 'switch1', 'eth1')).rejects.toThrow(
    `Failed to connect openvswitch to interface eth1: Error detected while setting up 'eth1'${why}.`,
  )
  expect(port.left()).toEqual([])
})

test('a switch that is not there is told from one that cannot be asked', async () => {
  const argv = 'ovs-vsctl br-exists switch1'
  const requested = (answer: object) => noSwitch(recordedPrograms([{ argv, ...answer }]).run, 'switch1')
  expect(await requested({})).toBeUndefined()
  expect(await requested({ code: 2 })).toBe(
    'there is no switch switch1 of Open vSwitch on this node (ovs-vsctl add-br switch1 makes it)',
  )
  expect(await requested(notInstalled(argv))).toBe(
    'Open vSwitch is not installed here (apt-get install -y --no-install-recommends openvswitch-switch)',
  )
  const stderr = 'ovs-vsctl: unix:/run/openvswitch/db.sock: database connection failed (No such file or directory)\n'
  expect(await requested({ code: 1, stderr })).toBe(`${stderr.trim()} (systemctl restart openvswitch-switch)`)
})

test('a daemon that does not answer is not waited for', async () => {
  const killed: CommandResult = { code: null, signal: 'SIGKILL', stdout: '', stderr: '', output: '', timedOut: true }
  await expect(configureOpenvSwitch(async () => killed, 'switch1', null)).rejects.toThrow(
    'the daemon of Open vSwitch did not answer within 10 s (systemctl restart openvswitch-switch)',
  )
})

test("a NIC does not lower its switch's MTU, and one that the switch cannot take is refused", async () => {
  const displayed = shownFiles({ '/sys/class/net/switch1/mtu': '9000\n' })
  const nic = { uuid: 'nic-1', nicparams: { mode: 'openvswitch', link: 'switch1', vlan: ':20' } as const }
  const programs = recordedPrograms([
    { argv: 'ovs-vsctl --bare --no-headings --columns=name find Port external_ids:gantry-nic!=""' },
    { argv: 'ip link set dev tap0 mtu 9000' },
    {
      argv: 'ovs-vsctl --may-exist add-port switch1 tap0 trunks=20 -- set Port tap0 external_ids:gantry-nic=nic-1',
      stderr: notSetUp('tap0', ': could not open network device tap0 (Device or resource busy)'),
    },
  ])
  await expect(joinSwitch({ files: displayed.files, run: programs.run }, nic, 'tap0')).rejects.toThrow(
    "Failed to join the switch switch1: Error detected while setting up 'tap0': could not open network device tap0 (Device or resource busy)",
  )
  expect(programs.left()).toEqual([])
  displayed.remove()
})
