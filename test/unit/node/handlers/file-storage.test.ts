import { fileStorageHandlers } from '../../../../src/node/handlers/file-storage'
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

test('only directories that the administrator allows are listed', async () => {
  const node = testNode()
  try {
    await expect(async () => list(node.context, ['/etc'])).rejects.toThrow("Path '/etc' uses a forbidden prefix")
  } finally {
    node.remove()
  }
})
