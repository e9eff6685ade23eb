// What a node tells of its system, from recorded files.
import { system } from '../../../../src/collectors/node/system'
import { mismatch } from '../../../../src/collectors/shapes'
import { nodeSources, systemError } from '../../../support/node-sources'

const FILES = {
  '/proc/uptime': '100.50 1.00\n',
  '/proc/cpuinfo': 'processor\t: 0\nmodel name\t: Some CPU\n\nprocessor\t: 1\nmodel name\t: Some CPU\n',
  '/proc/loadavg': '0.50 1.00 1.50 1/100 99\n',
  '/sys/devices/system/cpu/online': '0-1\n',
  '/sys/devices/system/cpu/offline': '\n',
  '/proc/meminfo': 'MemTotal: 100 kB\nMemFree: 40 kB\nMemAvailable: 60 kB\nHugePages_Total: 2\n',
  '/proc/self/mountinfo': [
    '20 1 0:20 / /proc rw shared:1 - proc proc rw',
    '21 1 8:1 / / rw,relatime shared:2 master:3 - ext4 /dev/a rw,errors=continue',
    '22 1 8:1 /srv /a\\040copy ro - ext4 /dev/a rw',
    '23 1 0:30 / /run rw - tmpfs tmpfs rw,size=1k',
    '24 1 0:31 / /tmp rw - tmpfs tmpfs rw,size=2k',
    '25 1 8:2 / /hidden rw - ext4 /dev/c rw',
    '26 1 0:32 / /hidden rw - tmpfs tmpfs rw',
    '27 1 8:3 / /broken rw - xfs /dev/b ro',
    '',
  ].join('\n'),
  '/proc/sys/kernel/osrelease': '6.1.0\n',
  '/proc/sys/kernel/version': '#1 SMP\n',
  '/proc/pressure/cpu': 'some avg10=1.50 avg60=0.00 avg300=0.25 total=12\n',
  '/sys/class/net/eth0/operstate': 'up\n',
  '/sys/class/net/eth0/address': '02:00:00:00:00:01\n',
  '/sys/class/net/eth0/mtu': '1500\n',
  '/sys/class/net/eth0/speed': '-1\n',
  '/sys/class/net/eth0/statistics/rx_bytes': '7\n',
}

test('a node tells of its system, of each mount point once, with what it is a copy of, and of programs that it has', async () => {
  const room = (size_bytes: number) => ({ size_bytes, free_bytes: 1 })
  const rooms = {
    '/': room(10),
    '/run': room(1),
    '/tmp': room(2),
    '/hidden': room(3),
    '/broken': systemError('EIO', '/broken'),
  }
  const programs = {
    'qemu-system-x86_64': 'QEMU emulator version 7.2.22 (Debian)\n',
    lvm: '  LVM version:     2.03.16(2)\n',
  }
  const data = await system.open(nodeSources({ files: FILES, rooms, programs }), {}).collect()
  expect(mismatch(system.shape, data)).toBeUndefined()
  expect(data).toMatchObject({
    uptime_s: 100.5,
    cpus: { number: 2, online: '0-1', offline: '', model: 'Some CPU', load: [0.5, 1, 1.5] },
    memory: { total: 102400, free: 40960, available: 61440, huge_pages: 2 },
    filesystems: [
      { point: '/', device: '/dev/a', bind_of: null, readOnly: false, size_bytes: 10, free_bytes: 1 },
      { point: '/a copy', device: '/dev/a', bind_of: '/', readOnly: true, size_bytes: 10, free_bytes: 1 },
      { point: '/run', type: 'tmpfs', bind_of: null, size_bytes: 1 },
      { point: '/tmp', type: 'tmpfs', bind_of: null, size_bytes: 2 },
      { point: '/hidden', type: 'tmpfs', bind_of: null, size_bytes: 3 },
      { point: '/broken', readOnly: true, size_bytes: null, free_bytes: null },
    ],
    interfaces: [{ name: 'eth0', state: 'up', mtu: 1500, speed_mbit: null, counters: { rx_bytes: 7, tx_bytes: 0 } }],
    kernel: { release: '6.1.0', version: '#1 SMP' },
    versions: { qemu: '7.2.22', lvm: '2.03.16' },
    pressure: { cpu: { some: { avg10: 1.5, avg60: 0, avg300: 0.25, total_us: 12 } } },
  })
})
