// Where files are, told from the kernel's list of mounts.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { placeOf } from '../../../../src/lib/file/mounts'

const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-mounts-')))
const at = (name: string) => path.join(folder, name)
afterAll(() => fs.rmSync(folder, { recursive: true }))

const list = at('mountinfo')
const mounts = (...entries: [point: string, type: string][]) =>
  fs.writeFileSync(list, entries.map(([point, type]) => `20 1 8:1 / ${point} rw shared:1 - ${type} x rw\n`).join(''))
const place = (name: string) => placeOf(at(name), list)

test('a file, or the folder where it was to be made, is on the nearest mount above it', () => {
  fs.mkdirSync(at('disk one/deep'), { recursive: true })
  mounts(['/', 'ext4'], [at('disk\\040one'), 'xfs'], [at('disk'), 'nfs4'])
  expect(place('disk one/deep/a/b')).toEqual({ mountPoint: at('disk one'), existing: at('disk one/deep') })
  expect(place('none')).toEqual({ mountPoint: '/', existing: folder })
})

test('where the kernel lists no mount above a file, as in a plain chroot, the file itself is looked at', () => {
  fs.mkdirSync(at('remote'), { recursive: true })
  mounts(['/proc', 'proc'], [at('remote'), 'nfs4'])
  expect(place('none')).toEqual({ existing: folder })
  expect(place('remote/a')).toEqual({ mountPoint: at('remote') })
})

test.each(['nfs4', 'cifs', 'fuse.glusterfs', 'ceph', 'autofs'])(
  'nothing on a file system of type %s is looked at',
  (type) => {
    fs.mkdirSync(at('remote'), { recursive: true })
    fs.rmSync(at('link'), { force: true })
    fs.symlinkSync('remote/there', at('link'))
    mounts(['/', 'ext4'], [at('remote'), type])
    for (const name of ['remote', 'remote/a/b', 'link/x', 'none/../remote/c'])
      expect([name, place(name)]).toEqual([name, { mountPoint: at('remote') }])
  },
)

test('a link to itself is nowhere', () => {
  fs.symlinkSync('loop', at('loop'))
  mounts(['/', 'ext4'])
  expect(place('loop/x')).toBeUndefined()
})
