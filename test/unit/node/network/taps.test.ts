// Tap devices join the networks of their NICs: bridges and switches with VLANs, routes, and scripts of the administrator.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { systemFiles } from '../../../../src/lib/files'
import { pathsOf } from '../../../../src/lib/paths'
import { bridgeFacts, joinBridge, vlanCommands } from '../../../../src/node/network/bridge'
import { freeTapName, isRoutedToGuest } from '../../../../src/node/network/communication'
import { vlanOptions } from '../../../../src/node/network/open-vswitch'
import { Taps } from '../../../../src/node/network/taps'
import { parseVlans } from '../../../../src/node/network/vlans'
import { instanceDict, removeRoot, temporaryRoot } from '../../../support/hypervisor'
import { type RecordedProgram, recordedPrograms } from '../../../support/recorded-programs'
import { shownFiles } from '../../../support/shown-files'

test("a NIC's VLANs are told to a bridge that tells them apart, and to what leads out of it; another bridge is refused", () => {
  const bridge = { name: 'br0', vlanFiltering: true, defaultPvid: 1, uplinks: ['eth1'], takenVlans: [] }
  const lines = (vlan: string, more = {}) =>
    vlanCommands('tap0', parseVlans(vlan), { ...bridge, ...more }).map((words) => words.slice(2).join(' '))
  expect(lines('.10')).toEqual([
    'add dev tap0 vid 10 pvid untagged master',
    'del dev tap0 vid 1 master',
    'add dev eth1 vid 10 master',
  ])
  expect(lines('.10:20:30', { defaultPvid: 0, uplinks: [] })).toEqual([
    'add dev tap0 vid 10 pvid untagged master',
    'add dev tap0 vid 20 master',
    'add dev tap0 vid 30 master',
  ])
  expect(lines(':1:20', { uplinks: [] })).toEqual(['add dev tap0 vid 1 master', 'add dev tap0 vid 20 master'])
  const takenVlans = [{ vid: '20', by: 'eth1.20' }]
  expect(lines('.10', { takenVlans })).toHaveLength(3)
  expect(() => lines('.10:20', { takenVlans })).toThrow(
    /asks for VLAN 20, which the interface eth1\.20 of this node takes/,
  )
  expect(() => lines('10', { vlanFiltering: false })).toThrow(
    /asks for VLANs, and bridge br0 does not tell them apart \(make it: ip link set dev br0 type bridge vlan_filtering 1\)/,
  )
})

test('ports that lead out of a bridge are told from those of guests and containers by the kernel, not by names', async () => {
  const net = temporaryRoot()
  const port = (name: string, files: Record<string, string>) => {
    fs.mkdirSync(path.join(net, 'br0/brif', name), { recursive: true })
    for (const [file, text] of Object.entries({ uevent: `INTERFACE=${name}\n`, ...files })) {
      fs.mkdirSync(path.join(net, name), { recursive: true })
      fs.writeFileSync(path.join(net, name, file), text)
    }
  }
  port('tap-uplink', { device: '' })
  port('bond0', { lower_eth1: '', uevent: 'DEVTYPE=bond\nINTERFACE=bond0\n' })
  port('vx1', { uevent: 'DEVTYPE=vxlan\nINTERFACE=vx1\n' })
  port('vnet3', { tun_flags: '0x1002' })
  port('tap7', { tun_flags: '0x1002' })
  port('veth42', { iflink: '5', ifindex: '6' })
  fs.mkdirSync(path.join(net, 'br0/bridge'))
  fs.writeFileSync(path.join(net, 'br0/bridge/vlan_filtering'), '1\n')
  fs.writeFileSync(path.join(net, 'br0/bridge/default_pvid'), '7\n')
  const displayed = shownFiles({
    '/proc/net/vlan/config':
      'VLAN Dev name    | VLAN ID\nName-Type: VLAN_NAME_TYPE_RAW_PLUS_VID_NO_PAD\n' +
      'bond0.30       | 30  | bond0\nveth42.40      | 40  | veth42\n',
  })
  const { uplinks, ...facts } = await bridgeFacts(displayed.files, 'br0', net)
  displayed.remove()
  const takenVlans = [{ vid: '30', by: 'bond0.30', device: 'bond0' }]
  expect(facts).toEqual({ name: 'br0', vlanFiltering: true, defaultPvid: 7, takenVlans })
  expect([...uplinks].sort()).toEqual(['bond0', 'tap-uplink', 'vx1'])
  removeRoot(net)
})

test('a tap device that joins a bridge changes neither its address nor its MTU, and is given its VLANs', async () => {
  const displayed = shownFiles({
    '/sys/class/net/tap0/address': '3a:5f:00:11:22:33\n',
    '/sys/class/net/br0/mtu': '9000\n',
    '/sys/class/net/br0/bridge/vlan_filtering': '1\n',
    '/sys/class/net/br0/bridge/default_pvid': '1\n',
    '/sys/class/net/br0/brif/eth1/state': '3\n',
    '/sys/class/net/eth1/uevent': 'INTERFACE=eth1\n',
    '/sys/class/net/eth1/device/vendor': '0x1af4\n',
  })
  const join = [
    'ip link set dev tap0 address fe:5f:00:11:22:33',
    'ip link set dev tap0 mtu 9000',
    'ip link set dev tap0 master br0',
  ]
  const vlans = [
    'bridge vlan add dev tap0 vid 10 pvid untagged master',
    'bridge vlan del dev tap0 vid 1 master',
    'bridge vlan add dev eth1 vid 10 master',
  ]
  for (const [vlan, commands] of [
    ['', join],
    ['.10', [...join, ...vlans]],
  ] as const) // prettier-ignore
  {
    const programs = recordedPrograms(commands.map((argv) => ({ argv })))
    await joinBridge({ files: displayed.files, run: programs.run }, 'tap0', 'br0', vlan)
    expect(programs.asked.map(({ argv }) => argv.join(' '))).toEqual(commands)
  }
  const stderr = 'RTNETLINK answers: Device or resource busy\n'
  const busy = recordedPrograms([{ argv: join[0] ?? '' }, { argv: join[1] ?? '' }, { argv: join[2] ?? '', code: 2, stderr }]) // prettier-ignore
  await expect(joinBridge({ files: displayed.files, run: busy.run }, 'tap0', 'br0', '')).rejects.toThrow(
    `Failed to configure a NIC: ${join[2]}: ${stderr.trim()}`,
  )
  displayed.remove()
})

test("a NIC's VLAN is told to the switch in its own words", () => {
  expect(vlanOptions('')).toEqual([])
  expect(vlanOptions('.10')).toEqual(['tag=10'])
  expect(vlanOptions(':20:30')).toEqual(['trunks=20,30'])
  expect(vlanOptions('.10:20')).toEqual(['tag=10', 'trunks=20', 'vlan_mode=native-untagged'])
})

describe('a tap device joins', () => {
  const nic = (nicparams: object, more: object = {}) => ({
    ...{ uuid: 'nic-1', mac: 'aa:00:00:00:00:01', name: 'eth' },
    ...{ nicparams: { link: 'net0', ...nicparams }, ...more },
  })
  /** The programs that run for the NIC, and what is written; on a machine with these files of the administrator. */
  async function joined(desired: ReturnType<typeof nic>, scripts: readonly string[] = []) {
    const done: string[] = []
    const files = {
      ...systemFiles,
      access: (file: string) =>
        scripts.includes(file) ? Promise.resolve() : Promise.reject(new Error('no such file')),
      writeFile: (file: string, text: string) => Promise.resolve(void done.push(`${text} > ${file}`)),
    }
    const run = async (argv: readonly string[], options: { env?: object } = {}) => {
      done.push([...argv, ...(options.env === undefined ? [] : [JSON.stringify(options.env)])].join(' '))
      return { code: 0, output: '', stdout: '' } as never
    }
    const taps = new Taps({ files: files as never, run, paths: pathsOf('', 'n1') })
    await taps.connect(instanceDict({ tags: ['a', 'b'] }), desired, 2, 'tap0')
    return done
  }

  test('a switch, with its VLANs', async () => {
    expect(await joined(nic({ mode: 'openvswitch', vlan: '.10' }))).toEqual([
      'ovs-vsctl --bare --no-headings --columns=name find Port external_ids:gantry-nic!=""',
      'ovs-vsctl --may-exist add-port net0 tap0 tag=10 -- set Port tap0 external_ids:gantry-nic=nic-1',
      'ip link set dev tap0 up',
    ])
  })

  test('the routing table that its link names, and answers for its address', async () => {
    const ADDRESS = 'ip link set dev tap0 address fe:00:00:00:00:01'
    expect(await joined(nic({ mode: 'routed', link: '100' }, { ip: '192.0.2.7' }))).toEqual([
      ADDRESS,
      'ip link set dev tap0 up',
      '1 > /proc/sys/net/ipv4/conf/tap0/proxy_arp',
      '1 > /proc/sys/net/ipv4/conf/tap0/forwarding',
      'ip -4 rule add dev tap0 table 100',
      'ip -4 route replace 192.0.2.7 proto static dev tap0 table 100',
    ])
    expect(await joined(nic({ mode: 'routed', link: '' }, { ip: '2001:db8::7' }))).toEqual([
      ADDRESS,
      'ip link set dev tap0 up',
      '1 > /proc/sys/net/ipv6/conf/tap0/proxy_ndp',
      '1 > /proc/sys/net/ipv6/conf/tap0/forwarding',
      'ip -6 route replace 2001:db8::7 proto static dev tap0',
    ])
    expect(
      await joined(nic({ mode: 'routed', link: '' }, { ip: '192.0.2.7' }), ['/proc/sys/net/ipv6/conf/tap0']),
    ).toEqual([
      ADDRESS,
      'ip link set dev tap0 up',
      '1 > /proc/sys/net/ipv4/conf/tap0/proxy_arp',
      '1 > /proc/sys/net/ipv4/conf/tap0/forwarding',
      '1 > /proc/sys/net/ipv6/conf/tap0/proxy_ndp',
      '1 > /proc/sys/net/ipv6/conf/tap0/forwarding',
      'ip -4 route replace 192.0.2.7 proto static dev tap0',
    ])
    await expect(joined(nic({ mode: 'routed' }))).rejects.toThrow('Routed NIC nic-1 has no IP address')
  })

  test('the guest as its gateway, whose hardware address follows from the NIC on every node and is not its own', async () => {
    const addressFor = async (mac: string) => (await joined(nic({ mode: 'routed' }, { ip: '192.0.2.7', mac })))[0]
    expect(await addressFor('aa:00:00:bf:2f:16')).toBe('ip link set dev tap0 address fe:00:00:bf:2f:16')
    expect(await addressFor('FE:00:00:BF:2F:16')).toBe('ip link set dev tap0 address fa:00:00:bf:2f:16')
  })

  const script = '/etc/ganeti/kvm-vif-bridge'

  test.each(['bridged', 'routed', 'openvswitch', 'ext'])(
    "what the administrator's script joins it to, also in mode %s",
    async (mode) => {
      const done = await joined(nic({ mode }), [script])
      const command = done.pop() ?? ''
      expect(done).toEqual(mode === 'routed' ? ['ip link set dev tap0 address fe:00:00:00:00:01'] : [])
      expect(command.startsWith(`${script} tap0 {`)).toBe(true)
      expect(JSON.parse(command.slice(command.indexOf('{')))).toMatchObject({ MODE: mode, INTERFACE: 'tap0' })
    },
  )

  test("whatever the administrator's script joins it to, which is told all about the NIC", async () => {
    const [command = '', ...more] = await joined(nic({ mode: 'ext', vlan: '7' }), [script])
    expect(more).toEqual([])
    expect(command.startsWith(`${script} tap0 {`)).toBe(true)
    expect(JSON.parse(command.slice(command.indexOf('{')))).toEqual({
      ...{ INSTANCE: instanceDict().name, MAC: 'aa:00:00:00:00:01', MODE: 'ext', LINK: 'net0', VLAN: '7' },
      ...{ INTERFACE: 'tap0', INTERFACE_INDEX: '2', INTERFACE_UUID: 'nic-1', INTERFACE_NAME: 'eth', TAGS: 'a b' },
    })
    const netinfo = {
      ...{ uuid: 'net-1', name: 'office', network: '192.0.2.0/24', gateway: '192.0.2.1', network6: '2001:db8::/64' },
      ...{ gateway6: '2001:db8::1', mac_prefix: 'aa:00:01', tags: ['x', 'y'] },
    }
    const [ofNetwork = ''] = await joined(nic({ mode: 'ext' }, { netinfo }), [script])
    expect(JSON.parse(ofNetwork.slice(ofNetwork.indexOf('{')))).toMatchObject({
      ...{ NETWORK_NAME: 'office', NETWORK_UUID: 'net-1', NETWORK_SUBNET: '192.0.2.0/24', NETWORK_TAGS: 'x y' },
      ...{ NETWORK_GATEWAY: '192.0.2.1', NETWORK_SUBNET6: '2001:db8::/64', NETWORK_GATEWAY6: '2001:db8::1' },
      NETWORK_MAC_PREFIX: 'aa:00:01',
    })
    await expect(joined(nic({ mode: 'ext' }))).rejects.toThrow(
      `NICs of mode 'ext' are connected by the script ${script} alone, and this node has none that can be executed`,
    )
  })
})

describe('a tap device that goes', () => {
  const FIND = 'ovs-vsctl --bare --no-headings --columns=name find Port external_ids:gantry-nic!=""'
  const ADD = 'ovs-vsctl --may-exist add-port net0 tap2 -- set Port tap2 external_ids:gantry-nic=nic-1'

  test('leaves its switch, and is not looked for there when it is in a bridge', async () => {
    const [device, port] = ['/sys/class/net/tap0/master/ifindex', '/sys/class/net/tap1/brport/state']
    const displayed = shownFiles({ [device]: '3\n', [port]: '3\n', '/run/openvswitch/db.sock': '' })
    const commands = [
      'ovs-vsctl --no-wait --if-exists del-port tap0',
      'ip link delete dev tap0',
      'ip link delete dev tap1',
    ]
    const programs = recordedPrograms(commands.map((argv) => ({ argv })))
    const taps = new Taps({ files: displayed.files, run: programs.run, paths: pathsOf('', 'n1') })
    await taps.remove('tap0')
    await taps.remove('tap1')
    expect(programs.asked.map(({ argv }) => argv.join(' '))).toEqual(commands)
    displayed.remove()
  })

  test('with its machine is forgotten by its switch when the next NIC joins', async () => {
    const displayed = shownFiles({ '/sys/class/net/tap1/mtu': '1500\n' })
    const programs = recordedPrograms([
      { argv: FIND, stdout: 'tap0\n\ntap1\n' },
      ...['ovs-vsctl --no-wait --if-exists del-port tap0', ADD, 'ip link set dev tap2 up'].map((argv) => ({ argv })),
    ])
    await new Taps({ files: displayed.files, run: programs.run, paths: pathsOf('', 'n1') }).connect(
      ...([instanceDict(), { uuid: 'nic-1', mac: 'aa:00:00:00:00:01', nicparams: { mode: 'openvswitch', link: 'net0' } }] as const), // prettier-ignore
      ...([0, 'tap2'] as const),
    )
    expect(programs.left()).toEqual([])
    displayed.remove()
  })
})

describe('a communication NIC', () => {
  const nic = (more: object = {}) => ({
    ...{ uuid: 'nic-1', mac: '52:54:00:00:00:01', name: 'ganeti:communication:vm1', ip: '169.254.0.5' },
    ...{ nicparams: { mode: 'routed', link: 'communication_rt' }, ...more },
  })

  test('has the metadata address at this end, and the only route to the guest', async () => {
    const commands = [
      'ip link set dev gnt.com.0 address fe:54:00:00:00:01',
      'ip link set dev gnt.com.0 up',
      'ip address replace 169.254.169.254/32 dev gnt.com.0',
      'ip -4 route replace 169.254.0.5/32 dev gnt.com.0',
    ]
    const displayed = shownFiles({})
    const connect = async (one: ReturnType<typeof nic>, expected: readonly (string | RecordedProgram)[]) => {
      const programs = recordedPrograms(expected.map((known) => (typeof known === 'string' ? { argv: known } : known)))
      await new Taps({ files: displayed.files, run: programs.run, paths: pathsOf('', 'n1') }).connect(
        ...([instanceDict(), one, 1, 'gnt.com.0'] as const),
      )
      return programs.asked
    }
    expect((await connect(nic(), commands)).map(({ argv }) => argv.join(' '))).toEqual(commands)
    // The administrator's script for all NICs follows, and a script for the node's end replaces what we do.
    const administrators = (name: string) => {
      displayed.put(`/etc/ganeti/${name}`, '')
      fs.chmodSync(displayed.place(`/etc/ganeti/${name}`), 0o755)
    }
    administrators('kvm-vif-bridge')
    const every = '/etc/ganeti/kvm-vif-bridge gnt.com.0'
    expect((await connect(nic(), [...commands, every])).at(-1)?.argv.join(' ')).toBe(every)
    administrators('kvm-ifup-os')
    const own = '/etc/ganeti/kvm-ifup-os gnt.com.0'
    const looked = 'ip -4 route show 169.254.0.5/32 dev gnt.com.0'
    const requested = await connect(nic(), [commands[0] ?? '', own, { argv: looked, stdout: 'scope link\n' }, every])
    const both = requested.filter(({ argv }) => argv[0] !== 'ip')
    expect(both[0]?.argv[0]).toBe('/etc/ganeti/kvm-ifup-os')
    expect(both).toHaveLength(2)
    for (const { options } of both)
      expect(options.env).toMatchObject({ INTERFACE: 'gnt.com.0', MODE: 'routed', MAC: nic().mac, IP: nic().ip })
    // One that lacks the files of Ganeti's package ends as if all were well.
    const stderr = '/etc/ganeti/kvm-ifup-os: line 52: /usr/lib/ganeti/net-common: No such file or directory\n'
    await expect(connect(nic(), [commands[0] ?? '', { argv: own, stderr }, looked])).rejects.toThrow(
      '/etc/ganeti/kvm-ifup-os has not routed 169.254.0.5 to gnt.com.0, so the guest could not ask for metadata ' +
        `(it said: ${stderr.trim()}). Mend the script, or remove it: without it the node does this itself`,
    )
    displayed.remove()
  })

  test('has a name of its own, whoever else makes one at the same time', async () => {
    const displayed = shownFiles({ '/sys/class/net/gnt.com.2/address': '', '/sys/class/net/tap9/address': '' })
    expect(await freeTapName(displayed.files)).toBe('gnt.com.3')
    const made: string[] = []
    const run = async (argv: readonly string[]) => {
      const name = argv[4] ?? ''
      made.push(name)
      // Another start was quicker.
      if (made.length === 1) displayed.put(`/sys/class/net/${name}/address`, '')
      return { code: made.length === 1 ? 1 : 0, output: 'Device or resource busy', stdout: '' } as never
    }
    const taps = new Taps({ files: displayed.files, run, paths: pathsOf('', 'n1') })
    expect(await taps.makeForCommunication(undefined, [])).toBe('gnt.com.4')
    expect(made).toEqual(['gnt.com.3', 'gnt.com.4'])
    displayed.remove()
  })

  test('counts for an address only if the node routes that to its tap device and nowhere else', async () => {
    const head = 'Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n'
    const route = (device: string, hex: string, mask = 'FFFFFFFF') =>
      `${device}\t${hex}\t00000000\t0005\t0\t0\t0\t${mask}\t0\t0\t0\n`
    const ask = async (routes: string, order: 'LE' | 'BE' = 'LE') => {
      const displayed = shownFiles({ '/proc/net/route': head + routes })
      const answer = await isRoutedToGuest(displayed.files, '169.254.0.5', order)
      displayed.remove()
      return answer
    }
    expect(await ask(route('gnt.com.0', '0500FEA9'))).toBe(true)
    expect(await ask(route('gnt.com.0', 'A9FE0005'), 'BE')).toBe(true)
    expect(await ask(route('gnt.com.0', '0600FEA9'))).toBe(false)
    expect(await ask(route('eth0', '0500FEA9'))).toBe(false)
    expect(await ask(route('gnt.com.0', '0500FEA9') + route('eth0', '0500FEA9'))).toBe(false)
    expect(await ask(route('eth0', '0000FEA9', '0000FFFF'))).toBe(false)
    expect(await ask('')).toBe(false)
  })
})
