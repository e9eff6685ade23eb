// How an address is taken and given up: by which commands, and what is made of their answers.
import type { NetworkInterfaceInfo } from 'node:os'
import { type Log, silentLog } from '../../../../src/lib/log'
import { changeMasterIp, changeMasterNetmask } from '../../../../src/node/network/master-ip'
import { setAddress } from '../../../../src/node/network/addresses'
import { clockAt } from '../../../support/instant-clock'
import { testNode } from '../../../support/node-context'
import { notInstalled, recordedPrograms, type RecordedProgram } from '../../../support/recorded-programs'
import { type ShownFiles, shownFiles } from '../../../support/shown-files'

const ADDRESS = '192.0.2.10'
const UP = '0x1003\n'
const DOWN = '0x1002\n'
const WITHOUT_ARP = '0x10c1\n'
const VERSION: RecordedProgram = { argv: 'arping -V', stdout: 'arping from iputils 20221126\n' }
const ASK = `arping -q -D -f -c 2 -w 2 -I eth1 ${ADDRESS}`
const TELL = [`arping -q -U -c 1 -w 2 -s ${ADDRESS} -I eth1 ${ADDRESS}`, `arping -q -A -c 1 -w 2 -s ${ADDRESS} -I eth1 ${ADDRESS}`] // prettier-ignore
const TAKE = `ip address add ${ADDRESS}/24 dev eth1 preferred_lft 0`
const GIVE_UP = `ip address del ${ADDRESS}/24 dev eth1`

let displayed: ShownFiles
beforeEach(() => {
  displayed = shownFiles({ '/sys/class/net/eth1/flags': UP })
})
afterEach(() => displayed.remove())

function machine(recordings: readonly (RecordedProgram | string)[], own: readonly string[] = []) {
  const programs = recordedPrograms(recordings.map((one) => (typeof one === 'string' ? { argv: one } : one)))
  const warnings: string[] = []
  const log = Object.assign(Object.create(silentLog) as Log, {
    warn: (_fields: unknown, text: string) => void warnings.push(text),
  })
  const entries = own.map((address): NetworkInterfaceInfo => {
    return { address, netmask: '255.255.255.0', family: 'IPv4', mac: '00:00:00:00:00:00', internal: false, cidr: null }
  })
  const network = { run: programs.run, networkInterfaces: () => ({ eth1: entries }) }
  const host = { files: displayed.files, clock: clockAt(0), log, ...network }
  return { host, warnings, done: () => programs.asked.map(({ argv }) => argv.join(' ')), left: programs.left }
}

test('an address is taken when no neighbour answers for it, and the neighbours are told', async () => {
  const { host, done, left } = machine([VERSION, ASK, TAKE, ...TELL])
  await setAddress(host, 'add', ADDRESS, 24, 'eth1')
  expect(done()).toEqual(['arping -V', ASK, TAKE, ...TELL])
  expect(left()).toEqual([])
})

test('one that a neighbour has is left to it', async () => {
  const { host, done } = machine([VERSION, { argv: ASK, code: 1 }])
  await expect(setAddress(host, 'add', ADDRESS, 24, 'eth1')).rejects.toThrow(
    `Another machine on the network of eth1 has the address ${ADDRESS}`,
  )
  expect(done()).not.toContain(TAKE)
})

test('without arping it is taken all the same, and the log says what may go wrong and how to install it', async () => {
  const { host, warnings, left } = machine([notInstalled('arping -V'), TAKE])
  await setAddress(host, 'add', ADDRESS, 24, 'eth1')
  expect(left()).toEqual([])
  expect(warnings).toEqual([expect.stringMatching(/^nobody is asked .* apt-get install .*iputils-arping$/)])
})

test('if arping cannot ask, or cannot tell, the log says so', async () => {
  const failing = { code: 2, stderr: 'arping: Interface "eth1" is not ARPable\n' }
  const { host, warnings } = machine([VERSION, { argv: ASK, ...failing }, TAKE, { argv: TELL[0] ?? '', ...failing }, TELL[1] ?? '']) // prettier-ignore
  await setAddress(host, 'add', ADDRESS, 24, 'eth1')
  expect(warnings).toEqual(['arping could not ask whether the address is in use', 'the address could not be announced'])
})

test.each([
  ['is down', DOWN, ADDRESS],
  ['has no ARP', WITHOUT_ARP, ADDRESS],
])('nobody is asked when the device %s', async (_, flags, address) => {
  displayed.put('/sys/class/net/eth1/flags', flags)
  const { host, left } = machine([`ip address add ${address}/24 dev eth1 preferred_lft 0`])
  await setAddress(host, 'add', address, 24, 'eth1')
  expect(left()).toEqual([])
})

const ADDRESS_6 = '2001:db8::10'
const TAKE_6 = `ip address add ${ADDRESS_6}/64 dev eth1 preferred_lft 0`
const LOOK_6 = `ip -6 -o address show dev eth1 to ${ADDRESS_6}`
const looked = (flags: string) => ({
  argv: LOOK_6,
  stdout: `2: eth1    inet6 ${ADDRESS_6}/64 scope global ${flags}\\       valid_lft forever preferred_lft 0sec\n`,
})

test('one of IPv6 is taken when the kernel has found no neighbour that has it', async () => {
  const { host, left } = machine([TAKE_6, looked('deprecated tentative'), looked('deprecated')])
  await setAddress(host, 'add', ADDRESS_6, 64, 'eth1')
  expect(left()).toEqual([])
})

test('while one of IPv6 is added, the kernel is to tell neighbours; then the setting is as it was', async () => {
  const setting = '/proc/sys/net/ipv6/conf/eth1/ndisc_notify'
  for (const before of ['0', '1']) {
    displayed.put(setting, before)
    const { host, warnings } = machine([TAKE_6, looked('deprecated')])
    const observed: string[] = []
    const run: typeof host.run = (argv, options) => {
      observed.push(displayed.read(setting))
      return host.run(argv, options)
    }
    await setAddress({ ...host, run }, 'add', ADDRESS_6, 64, 'eth1')
    expect([observed, displayed.read(setting), warnings]).toEqual([['1', '1'], before, []])
  }
  displayed.put(setting, '0')
  const taken = machine([{ argv: TAKE_6, code: 2, stderr: 'no' }])
  await expect(setAddress(taken.host, 'add', ADDRESS_6, 64, 'eth1')).rejects.toThrow('no')
  expect(displayed.read(setting)).toBe('0')
})

test('if the kernel cannot be told so, the address is taken all the same, and the log says what may go wrong', async () => {
  const { host, warnings, left } = machine([TAKE_6, looked('deprecated')])
  await setAddress(host, 'add', ADDRESS_6, 64, 'eth1')
  expect(left()).toEqual([])
  expect(warnings).toEqual([
    expect.stringMatching(/^neighbours may look .*, since .*eth1\/ndisc_notify cannot be set$/),
  ])
})

test('one of IPv6 that a neighbour has is given up again', async () => {
  const failed = looked('deprecated dadfailed tentative')
  const { host, left } = machine([TAKE_6, failed, `ip address del ${ADDRESS_6}/64 dev eth1`])
  await expect(setAddress(host, 'add', ADDRESS_6, 64, 'eth1')).rejects.toThrow(
    `Another machine on the network of eth1 has the address ${ADDRESS_6}`,
  )
  expect(left()).toEqual([])
})

test('nothing is done for an address that is there already, is gone already, or belongs to every machine', async () => {
  await setAddress(machine([], [ADDRESS]).host, 'add', ADDRESS, 24, 'eth1')
  await setAddress(machine([]).host, 'del', ADDRESS, 24, 'eth1')
  for (const loopback of ['127.0.1.254', '::1']) await setAddress(machine([]).host, 'add', loopback, 8, 'lo')
  const { host, left } = machine([GIVE_UP], [ADDRESS])
  await setAddress(host, 'del', ADDRESS, 24, 'eth1')
  expect(left()).toEqual([])
})

test('a refusal of ip is told in its words, and a name that no device can have reaches no program', async () => {
  const refused = { argv: GIVE_UP, code: 1, stderr: 'Cannot find device "eth1"\n' }
  await expect(setAddress(machine([refused], [ADDRESS]).host, 'del', ADDRESS, 24, 'eth1')).rejects.toThrow(
    `ip address del ${ADDRESS}/24 dev eth1 failed: Cannot find device "eth1"`,
  )
  await expect(setAddress(machine([]).host, 'add', ADDRESS, 24, '-h')).rejects.toThrow('Invalid name')
})

describe('the address of the cluster', () => {
  const params = { uuid: 'u', ip: ADDRESS, netmask: 24, netdev: 'eth1', ip_family: 2 }

  test('is changed by the script of the administrator where there is one', async () => {
    const node = testNode()
    const script = node.put('/etc/ganeti/scripts/master-ip-setup', '')
    const programs = recordedPrograms([
      { argv: [script, 'start'] },
      { argv: [script, 'stop'], code: 3, stderr: 'no such switch\n' },
    ])
    const context = { ...node.context, run: programs.run }
    await changeMasterIp(context, 'start', params, true)
    await expect(changeMasterIp(context, 'stop', params, true)).rejects.toThrow(
      `Failed to deactivate the cluster address ${ADDRESS}: no such switch`,
    )
    expect(programs.asked[0]?.options.env).toEqual({
      ...{ MASTER_NETDEV: 'eth1', MASTER_IP: ADDRESS, MASTER_NETMASK: '24', CLUSTER_IP_VERSION: '4' },
    })
    node.remove()
  })

  test('has its new netmask before it loses the old one', async () => {
    const node = testNode()
    const { host, done } = machine([`ip address add ${ADDRESS}/28 dev eth1 preferred_lft 0`, GIVE_UP], [ADDRESS])
    await changeMasterNetmask({ ...node.context, ...host }, 24, 28, ADDRESS, 'eth1')
    expect(done()).toEqual([`ip address add ${ADDRESS}/28 dev eth1 preferred_lft 0`, GIVE_UP])
    await changeMasterNetmask({ ...node.context, ...machine([]).host }, 24, 24, ADDRESS, 'eth1')
    node.remove()
  })
})
