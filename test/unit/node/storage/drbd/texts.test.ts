// What the kernel and drbdsetup say, and the command lines of a disk's parameters.
import { attach, connect, diskOptions, endOf } from '../../../../../src/node/storage/drbd/commands'
import { parseKernel } from '../../../../../src/node/storage/drbd/kernel'
import { parseShown } from '../../../../../src/node/storage/drbd/shown'
import type { DiskDict } from '../../../../../src/rpc/node/dicts'
import { DATA, META, SECRET, VERSION, drbdDisk, kernelSays, recorded } from '../../../../support/drbd-node'

const statesOf = (text: string) => [...parseKernel(text, 'node1').minors]

test('the kernel tells of each minor how it is connected, and what both nodes have', () => {
  expect(parseKernel(recorded('proc-diskless.txt'), 'node1').version).toBe('8.4.11 (api:1/proto:86-101)')
  expect(statesOf(recorded('proc-diskless.txt'))).toEqual([
    [0, { connection: 'Connected', role: 'Primary', disk: 'Diskless', peerDisk: 'UpToDate' }],
    [1, { connection: 'Connected', role: 'Primary', disk: 'UpToDate', peerDisk: 'UpToDate' }],
    [2, { connection: 'Connected', role: 'Secondary', disk: 'UpToDate', peerDisk: 'UpToDate' }],
  ])
  expect(statesOf(recorded('proc-standalone.txt'))[0]).toEqual([
    0,
    { connection: 'StandAlone', role: 'Secondary', disk: 'UpToDate', peerDisk: 'DUnknown' },
  ])
})

test('a minor that is not configured is nobody’s', () => {
  expect(statesOf(recorded('proc-unconfigured.txt'))).toEqual([])
})

test('a synchronization tells how far it is, and how long it takes, but at its very beginning and where it is stalled', () => {
  const bar =
    "\t[=>..................] sync'ed: 12.3% (919552/1048576)K\n\tfinish: 1:02:03 speed: 32,256 (32,256) K/sec\n"
  const stalled = "\t[=>..................] sync'ed: 12.3% (919552/1048576)K\n\tstalled\n"
  const syncing = (more: string, connection = 'SyncTarget') =>
    statesOf(kernelSays(connection, 'Inconsistent/UpToDate', 'Secondary/Primary', more))[0]?.[1]
  expect(syncing(bar)).toMatchObject({ sync_percent: 12.3, estimated_time: 3723 })
  expect(syncing(stalled)).toEqual(expect.not.objectContaining({ estimated_time: expect.anything() }))
  expect(syncing('', 'WFBitMapT')).toMatchObject({ sync_percent: 0 })
  expect(syncing('', 'Connected')).not.toHaveProperty('sync_percent')
})

test('a text without a version is refused', () => {
  expect(() => parseKernel('', 'node1')).toThrow('/proc/drbd of node node1 does not name a version')
  expect(parseKernel(VERSION, 'node1').minors.size).toBe(0)
})

test('drbdsetup tells of all devices what they are kept on, and with whom they are connected', () => {
  const displayed = parseShown(recorded('show-connected.txt'))
  expect([...displayed.keys()]).toEqual([0, 1, 2])
  expect(displayed.get(0)).toEqual({
    resource: 'resource0',
    ...{ disk: DATA, meta: META },
    ...{ local: 'ipv4:198.51.100.21:11000', remote: 'ipv4:198.51.100.22:11000' },
  })
  expect(parseShown(recorded('show-diskless.txt')).get(0)).toEqual({
    resource: 'resource0',
    ...{ local: 'ipv4:198.51.100.21:11000', remote: 'ipv4:198.51.100.22:11000' },
  })
  expect(parseShown(recorded('show-standalone.txt')).get(0)).toEqual({ resource: 'resource0', disk: DATA, meta: META })
  expect(parseShown('').size).toBe(0)
  expect(() => parseShown('resource resource0 {\n')).toThrow('ends too early')
})

test('a meta device may be shown with its index, and addresses may be of the sixth version', () => {
  const text =
    'resource r { _remote_host { address ipv6 [2001:db8::2]:11000; } _this_host { address ipv6 [2001:db8::1]:11000;' +
    ' volume 0 { device minor 7; disk "/dev/a b"; meta-disk "/dev/m" [ 0 ]; disk { size 8s; } } } }'
  expect(parseShown(text).get(7)).toEqual({
    resource: 'r',
    ...{ disk: '/dev/a b', meta: '/dev/m' },
    ...{ local: 'ipv6:[2001:db8::1]:11000', remote: 'ipv6:[2001:db8::2]:11000' },
  })
})

const withParams = (params: DiskDict['params']) => drbdDisk({ params: { ...drbdDisk().params, ...params } })
const attachLine = (params: DiskDict['params']) => attach(withParams(params), 0, DATA, META).slice(7).join(' ')

test.each<[DiskDict['params'], string]>([
  [{}, '--size 192m'],
  [{ 'disabled-barriers': 'bfd' }, '--size 192m --disk-flushes=no --disk-drain=no --disk-barrier=no'],
  [{ 'disabled-barriers': 'b', 'disable-meta-flush': true }, '--size 192m --md-flushes=no --disk-barrier=no'],
  [{ 'disk-custom': "--al-extents 257 --x 'a b'" }, '--size 192m --al-extents 257 --x a b'],
])('data is attached with %j as %s', (params, line) => {
  expect(attachLine(params)).toBe(line)
})

test('a size that nobody knows is left to DRBD', () => {
  expect(attach(drbdDisk({ size: 0 }), 0, DATA, META)).not.toContain('--size')
})

test.each<[DiskDict['params'], string]>([
  [{ 'resync-rate': 1000 }, '--resync-rate 1000'],
  [
    { 'dynamic-resync': true, 'c-plan-ahead': 5, 'c-max-rate': 9 },
    '--c-plan-ahead 5 --c-fill-target 0 --c-delay-target 1 --c-max-rate 9 --c-min-rate 4096',
  ],
])('the rate of %j is %s', (params, line) => {
  expect(diskOptions(withParams(params), 3).join(' ')).toBe(`drbdsetup disk-options 3 ${line}`)
})

test.each<[DiskDict['params'], string]>([
  [{ 'dynamic-resync': true, 'c-plan-ahead': 0 }, 'set dynamic-resync to false instead'],
  [{ 'resync-rate': 'fast' }, 'The disk parameter resync-rate is a number, not "fast"'],
])('the rate of %j is refused', (params, text) => {
  expect(() => diskOptions(withParams(params), 0)).toThrow(text)
})

test.each([['nb'], ['x'], [''], ['bb']])('barriers %p are refused', (letters) => {
  expect(() => attachLine({ 'disabled-barriers': letters })).toThrow('disk-barriers is n, or some of b, d and f')
})

const connectLine = (params: DiskDict['params'], dual = false) => {
  const disk = withParams(params)
  return connect(disk, endOf(disk) ?? { minor: 0, secret: '' }, 'resource0', dual).join(' ')
}
const ENDS = 'drbdsetup connect resource0 ipv4:198.51.100.21:11000 ipv4:198.51.100.22:11000'
const KEEP = '--after-sb-0pri discard-zero-changes --after-sb-1pri consensus'
const SIGNED = `--cram-hmac-alg md5 --shared-secret ${SECRET}`

test('nodes are connected by the protocol of the disk; both may write by protocol C only', () => {
  expect(connectLine({})).toBe(`${ENDS} --protocol C ${KEEP} ${SIGNED}`)
  expect(connectLine({ protocol: 'A', 'net-custom': '--ping-timeout 9' })).toBe(
    `${ENDS} --protocol A ${KEEP} ${SIGNED} --ping-timeout 9`,
  )
  expect(connectLine({ protocol: 'A' }, true)).toBe(`${ENDS} --protocol C ${KEEP} --allow-two-primaries ${SIGNED}`)
})

test('addresses of the sixth version stand in brackets; a disk without a port is not connected', () => {
  const six = { 'local-ip': '2001:db8::1', 'remote-ip': '2001:db8::2', 'local-minor': 4 }
  expect(endOf(drbdDisk({ dynamic_params: six }))?.addresses).toEqual({
    local: 'ipv6:[2001:db8::1]:11000',
    remote: 'ipv6:[2001:db8::2]:11000',
  })
  const portless = drbdDisk({ logical_id: ['a', 'b', null, 0, 0, SECRET] })
  expect(endOf(portless)).toEqual({ minor: 0, secret: SECRET })
  expect(() => connect(portless, { minor: 0, secret: '' }, 'resource0', false)).toThrow('has no port yet')
})

test('a node that is not one of the two has no end, and no two ends are the same', () => {
  expect(endOf(drbdDisk({ dynamic_params: {} }))).toBeUndefined()
  const same = { 'local-ip': '192.0.2.1', 'remote-ip': '192.0.2.1', 'local-minor': 4 }
  expect(() => endOf(drbdDisk({ dynamic_params: same }))).toThrow('its own node')
  expect(() => endOf(drbdDisk({ dynamic_params: { ...same, 'remote-ip': 'node2' } }))).toThrow("but 'node2'")
})
