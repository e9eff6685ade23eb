// Node calls about storage units and the files in them.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { fileStorageHandlers } from '../../../../src/node/handlers/file-storage'
import { recordedPrograms } from '../../../support/recorded-programs'
import { testNode } from '../../../support/node-context'

const list = fileStorageHandlers.gantry_file_storage_list

test('the files below storage directories are listed by the paths that configurations use', async () => {
  const node = testNode()
  try {
    node.put('/srv/ganeti/file-storage/inst1.example.com/a.file.disk0', 'x'.repeat(5))
    node.put('/srv/ganeti/shared-file-storage/inst1.example.com/deep/b', '')
    const answer = await list(node.context, ['/srv/ganeti/shared-file-storage', '/srv/ganeti/file-storage'])
    expect(answer).toEqual([
      [['/srv/ganeti/shared-file-storage/inst1.example.com/deep/b', 0]],
      [['/srv/ganeti/file-storage/inst1.example.com/a.file.disk0', 5]],
    ])
  } finally {
    node.remove()
  }
})

test('a directory of disks is told with its size, and how much is used as du counts it', async () => {
  const directory = '/srv/ganeti/file-storage'
  const node = testNode()
  const argv = ['du', '-s', '-k', '-x', node.paths.local(directory)]
  const failed = { argv, code: 1, stderr: "du: cannot read directory 'x': Permission denied\n" }
  const { run } = recordedPrograms([{ argv, stdout: `2560\t${node.paths.local(directory)}\n` }, failed])
  const listed = () => {
    const fields = ['name', 'used', 'allocatable']
    return fileStorageHandlers.storage_list({ ...node.context, run }, 'file', [[directory]], null, fields)
  }
  try {
    await expect(listed()).resolves.toEqual([[directory, 3, true]])
    await expect(listed()).rejects.toThrow(`Cannot measure '${directory}': du: cannot read directory 'x'`)
  } finally {
    node.remove()
  }
})

test('units of LVM are told as it reports them, and changed by it', async () => {
  const report = '--noheadings --units=m --nosuffix --separator=|'
  const { run, left } = recordedPrograms([
    { argv: `vgs ${report} -ovg_name,vg_size,vg_free`, stdout: '  xenvg|24572.00|24156.00\n' },
    {
      argv: `pvs ${report} -opv_name,vg_name,pv_size,pv_free,pv_attr`,
      stdout: '  /dev/vdb|xenvg|24572.00|24156.00|a--\n  /dev/vdc|xenvg|1020.00|1020.00|u--\n',
    },
    { argv: 'pvchange --allocatable n -- /dev/vdb' },
    { argv: 'vgreduce --removemissing -- xenvg' },
    { argv: `vgs ${report} -ovg_missing_pv_count -- xenvg`, stdout: '  0\n' },
  ])
  const node = testNode('node1.example.com', { run })
  const { storage_list, storage_modify, storage_execute } = fileStorageHandlers
  const fields = ['name', 'size', 'used', 'free', 'allocatable']
  try {
    await expect(storage_list(node.context, 'lvm-vg', [], null, fields)).resolves.toEqual([
      ['xenvg', 24572, 416, 24156, true],
    ])
    await expect(storage_list(node.context, 'lvm-pv', [], '/dev/vdc', fields)).resolves.toEqual([
      ['/dev/vdc', 1020, 0, 1020, false],
    ])
    await storage_modify(node.context, 'lvm-pv', [], '/dev/vdb', { allocatable: false })
    await storage_execute(node.context, 'lvm-vg', [], 'xenvg', 'fix-consistency')
    expect(left()).toEqual([])
  } finally {
    node.remove()
  }
})

test('only directories that the administrator allows are listed', async () => {
  const node = testNode()
  try {
    await expect(async () => list(node.context, ['/etc'])).rejects.toThrow("Path '/etc' uses a forbidden prefix")
  } finally {
    node.remove()
  }
})

describe('files of disks get second names', () => {
  const [one, two] = ['/srv/ganeti/file-storage/a/x.file.disk0', '/srv/ganeti/shared-file-storage/a/y.file.disk1']
  const renamed = (file: string) => file.replace('/a/', '/b/')
  const both = [one, two].map((file): [string, string] => [file, renamed(file)])
  const { gantry_file_link: link, file_storage_dir_create: create } = fileStorageHandlers
  let node: ReturnType<typeof testNode>
  beforeEach(async () => {
    node = testNode()
    for (const file of [one, two]) {
      node.put(file, 'data', 0o600)
      await create(node.context, path.posix.dirname(renamed(file)))
    }
  })
  afterEach(() => node.remove())
  const there = (file: string) => fs.existsSync(node.paths.local(file))

  test('all of them, and also when an earlier call was interrupted', async () => {
    await expect(link(node.context, both.slice(0, 1))).resolves.toBe(true)
    await expect(link(node.context, both)).resolves.toBe(true)
    expect([one, two, renamed(one), renamed(two)].map(there)).toEqual([true, true, true, true])
  })

  test('or none, when one cannot get it: nobody loses a file that is in the way', async () => {
    node.put(renamed(two), 'of somebody else', 0o600)
    await expect(link(node.context, both)).rejects.toThrow('EEXIST')
    expect(there(renamed(one))).toBe(false)
    expect(fs.readFileSync(node.paths.local(renamed(two)), 'utf8')).toBe('of somebody else')
  })

  test('not in a file system without them, which is no error', async () => {
    let calls = 0
    const refuse = (from: string, to: string) =>
      ++calls < 2 ? fs.promises.link(from, to) : Promise.reject(Object.assign(new Error('no'), { code: 'EPERM' }))
    const context = { ...node.context, files: { ...node.context.files, link: refuse as typeof fs.promises.link } }
    await expect(link(context, both)).resolves.toBe(false)
    expect(there(renamed(one))).toBe(false)
  })
})
