// Disks that QEMU reaches by itself, by the URIs that drivers of disks tell.
import { diskSetup } from '../../../../../src/node/hypervisor/kvm/devices'
import { KvmParams } from '../../../../../src/node/hypervisor/kvm/params'
import { diskDict, kvmParams } from '../../../../support/hypervisor'

const setup = (uri: string, access = 'userspace') => {
  const disk = {
    ...diskDict('', { dev_type: 'rbd', logical_id: ['rbd', 'a'], size: 1, params: { access } }),
    hvinfo: { id: 'd' },
  }
  return diskSetup({ disk, link: '/links/0', uri }, '/links/0', new KvmParams(kvmParams), { directIo: true }).blockdev[
    'file'
  ]
}
const server = (host: string) => [{ type: 'inet', host, port: '24007' }]

test.each([
  ['rbd:rbd/a.rbd.disk0', { driver: 'rbd', pool: 'rbd', image: 'a.rbd.disk0' }],
  [
    'rbd:ganeti-vms.2/a_b.disk0:id=gnt-user',
    { driver: 'rbd', pool: 'ganeti-vms.2', image: 'a_b.disk0', user: 'gnt-user' },
  ],
  [
    'gluster://gluster.example.com:24007/gv0/ganeti/a.0',
    { driver: 'gluster', server: server('gluster.example.com'), volume: 'gv0', path: 'ganeti/a.0' },
  ],
  [
    'gluster://[fd00::1]:24007/gv0/ganeti/a.0',
    { driver: 'gluster', server: server('fd00::1'), volume: 'gv0', path: 'ganeti/a.0' },
  ],
])('%s', (uri, options) => {
  expect(setup(uri)).toEqual(options)
})

test('a URI that QEMU is not told here is refused, and with access through the kernel it is not looked at', () => {
  expect(() => setup('shelf://a')).toThrow('Unsupported storage URI scheme: shelf://a')
  expect(setup('shelf://a', 'kernelspace')).toMatchObject({ driver: 'host_device', filename: '/links/0' })
})

/** As QEMU has a disk open whose cache parameter is the default one. */
const cacheOf = (dev_type: string, access: string) => {
  const disk = {
    ...diskDict('', { dev_type, logical_id: ['x', 'a'], size: 1, params: { access } }),
    hvinfo: { id: 'd' },
  }
  const params = new KvmParams({ ...kvmParams, disk_cache: 'default' })
  return diskSetup({ disk, link: '/links/0', uri: 'rbd:rbd/a' }, '/links/0', params, { directIo: true }).blockdev[
    'cache'
  ]
}

test.each([
  ['rbd', 'userspace', false],
  ['rbd', 'kernelspace', true],
  ['ext', 'userspace', true],
  ['gluster', 'userspace', true],
  ['sharedfile', 'kernelspace', true],
  ['blockdev', 'kernelspace', true],
  ['plain', 'kernelspace', false],
  ['drbd', 'kernelspace', false],
])('what other nodes reach, too, is not in the cache of one: %s with %s', (dev_type, access, direct) => {
  expect(cacheOf(dev_type, access)).toMatchObject({ direct })
})
