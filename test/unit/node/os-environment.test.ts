// What scripts of an OS definition learn about a disk.
import { type DiskTemplate, TEMPLATES } from '../../../src/model/templates'
import { backendType } from '../../../src/node/os'

const IDS: Readonly<Record<DiskTemplate, readonly (string | number)[]>> = {
  diskless: [],
  file: ['blktap2', '/srv/a'],
  sharedfile: ['loop', '/srv/a'],
  gluster: ['loop', '/a.0'],
  plain: ['xenvg', 'a.disk0'],
  drbd: ['uuid-a', 'uuid-b', 11000, 0, 0, 'secret'],
  blockdev: ['manual', '/dev/a'],
  rbd: ['rbd', 'a.disk0'],
  ext: ['san', 'a.disk0'],
}
const FILES: readonly string[] = ['file', 'sharedfile', 'gluster']

test.each(Object.keys(TEMPLATES) as DiskTemplate[])(
  'the backend of a disk of template %s is a block device, or a file with the driver of files',
  (dev_type) => {
    const disk = { uuid: 'd', size: 1, dev_type, logical_id: [...IDS[dev_type]] }
    expect(backendType(disk, { block: true })).toBe('block')
    expect(backendType(disk, { block: false })).toBe(
      `file:${FILES.includes(dev_type) ? String(IDS[dev_type][0]) : 'loop'}`,
    )
  },
)
