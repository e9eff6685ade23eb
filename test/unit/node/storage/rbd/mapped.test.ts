// Lists of mapped images, as each version of `rbd` prints them.
import { readMappedJson, readMappedTable, readWatchers } from '../../../../../src/node/storage/rbd/mapped'

const disk = { pool: 'rbd', image: 'a.rbd.disk0', device: '/dev/rbd0' }

test('mapped images are read as new versions print them, and as old ones did', () => {
  const row = { pool: 'rbd', name: 'a.rbd.disk0', snap: '-', device: '/dev/rbd0' }
  expect(readMappedJson(JSON.stringify([{ id: '0', namespace: '', ...row }]))).toEqual([disk])
  expect(readMappedJson(JSON.stringify({ '0': row }))).toEqual([disk])
  expect(readMappedJson('')).toEqual([])
  expect(readMappedJson('rbd: unrecognised option --format')).toBeUndefined()
})

test('an image of a namespace is another than that of the same name outside', () => {
  const row = { pool: 'rbd', namespace: 'other', name: 'a.rbd.disk0', snap: '-', device: '/dev/rbd0' }
  expect(readMappedJson(JSON.stringify([row]))).toEqual([])
  const table = 'id  pool  namespace  image        snap  device   \n0   rbd   other      a.rbd.disk0  -     /dev/rbd0\n'
  expect(readMappedTable(table)).toEqual([])
})

test.each([
  ['id  pool  image        snap  device   \n0   rbd   a.rbd.disk0  -     /dev/rbd0\n'],
  ['id  pool  namespace  image        snap  device   \n0   rbd              a.rbd.disk0  -     /dev/rbd0\n'],
  ['id\tpool\timage\tsnap\tdevice\n0\trbd\ta.rbd.disk0\t-\t/dev/rbd0\n'],
])('the table is read with or without namespaces', (table) => {
  expect(readMappedTable(table)).toEqual([disk])
})

test('a table of something else is not taken for one of mapped images', () => {
  expect(readMappedTable('')).toEqual([])
  expect(readMappedTable('rbd: error: showmapped failed\n')).toBeUndefined()
})

test('each machine that watches an image is told once', () => {
  const watcher = (address: string) => ({ address, client: 4123, cookie: 1 })
  const two = [watcher('10.0.0.1:0/17'), watcher('10.0.0.1:0/18'), watcher('[fd00::2]:0/9')]
  expect(readWatchers(JSON.stringify({ watchers: two }))).toEqual(['10.0.0.1', '[fd00::2]'])
  expect(readWatchers(JSON.stringify({ watchers: { watcher: watcher('10.0.0.1:0/17') } }))).toEqual(['10.0.0.1'])
  expect(readWatchers('no such command')).toBeUndefined()
})
