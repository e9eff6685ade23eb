// Volumes in user space are for trials.
import { silentLog } from '../../../src/lib/log'
import { pathsOf } from '../../../src/lib/paths'
import { userVolumesOf } from '../../../src/start/user-volumes'

const there = { existsSync: () => true }

test('a virtual node uses volumes in user space if it has their folder', () => {
  expect(userVolumesOf(pathsOf('/root/node1', 'node1'), there)).toBe('/root/node1/srv/ganeti/user-volumes')
  expect(userVolumesOf(pathsOf('/root/node1', 'node1'), { existsSync: () => false })).toBeUndefined()
})

test('a real node does not use them, and says so', () => {
  const warned: unknown[] = []
  const log = { ...silentLog, warn: (fields: unknown) => void warned.push(fields) }
  expect(userVolumesOf(pathsOf('', 'node1'), there, log)).toBeUndefined()
  expect(warned).toEqual([{ folder: '/srv/ganeti/user-volumes' }])
})
