// A disk that is a file ends where it ends, as one on LVM does, whatever a program writes into it.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { systemFiles } from '../../../../src/lib/files'
import { Disks } from '../../../../src/node/storage/disks'
import { keepingSize } from '../../../../src/node/storage/keep-size'
import { makeGroup } from '../../../../src/node/storage/user/volumes'
import { removeRoot, temporaryRoot } from '../../../support/hypervisor'
import { testNode } from '../../../support/node-context'

let root: string
let file: string
beforeEach(() => {
  root = temporaryRoot()
  file = path.join(root, 'disk')
  fs.writeFileSync(file, 'x'.repeat(1024))
})
afterEach(() => removeRoot(root))

const keeping = (bytes: number, after = () => 'done') =>
  keepingSize(systemFiles, file, 'disk/0', async () => {
    fs.writeFileSync(file, 'y'.repeat(bytes))
    return after()
  })

test('what fits is written, and what does not is cut off and told', async () => {
  await expect(keeping(1024)).resolves.toBe('done')
  await expect(keeping(1500)).rejects.toThrow(
    'disk/0 has 1024 bytes, and 476 more were written beyond its end: they are lost',
  )
  expect(fs.readFileSync(file, 'utf8')).toBe('y'.repeat(1024))
})

test('the failure of the program itself is told, and the file has its size again', async () => {
  const fails = () => {
    throw new Error('the script failed')
  }
  await expect(keeping(2048, fails)).rejects.toThrow('the script failed')
  expect(fs.statSync(file).size).toBe(1024)
})

test('a device is left alone', async () => {
  await expect(keepingSize(systemFiles, '/dev/null', 'disk/0', async () => 7)).resolves.toBe(7)
})

test.each(['file', 'plain'])('so are disks of template %s that are lent to the scripts of an OS', async (dev_type) => {
  const node = testNode('node1.gnt.example', { userVolumes: path.join(root, 'volumes') })
  try {
    const folder = node.context.paths.local('/srv/ganeti/file-storage')
    fs.mkdirSync(folder, { recursive: true })
    await makeGroup(systemFiles, path.join(root, 'volumes'), 'xenvg', 100)
    fs.mkdirSync(node.context.paths.local('/etc/ganeti'), { recursive: true })
    fs.writeFileSync(node.context.paths.local('/etc/ganeti/file-storage-paths'), '/srv/ganeti/file-storage\n')
    const logical_id = dev_type === 'file' ? ['loop', path.join(folder, 'a')] : ['xenvg', 'a.disk0']
    const disk = { uuid: 'u', dev_type, logical_id, size: 1, iv_name: 'disk/0' }
    const disks = new Disks(node.context)
    await disks.create(disk, 1)
    const grow = (lent: string) => fs.promises.appendFile(lent, 'more')
    await expect(disks.lent(disk, grow)).rejects.toThrow('4 more were written beyond its end')
    await expect(disks.dimensions(disk)).resolves.toMatchObject({ size_bytes: 1 << 20 })
  } finally {
    node.remove()
  }
})
