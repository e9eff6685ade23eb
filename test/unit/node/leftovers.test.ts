// What a node cleans away of what is no more.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { systemFiles } from '../../../src/lib/files'
import { systemClock } from '../../../src/lib/clock'
import { fileHandlers } from '../../../src/node/handlers/files'
import { ARCHIVE_DIRECTORIES_MAX } from '../../../src/model/limits/queue'
import { keepNewest, pruneArchive } from '../../../src/node/leftovers'
import { type TestNode, testNode } from '../../support/node-context'

let node: TestNode
beforeEach(() => void (node = testNode()))
afterEach(() => node.remove())

/** Every file that a node keeps for each instance beyond what goes with the instance, and how it is named. */
const KEPT: Readonly<Record<string, (name: string) => [file: string, text: string]>> = {
  '/var/run/ganeti/bdev-cache': (name) => [`bdev_srv_${name}_disk0`, `${name} primary disk/0\n`],
  '/var/run/ganeti/instance-reason': (name) => [name, '[]'],
  '/var/run/ganeti/metad': (name) => [name, '{}'],
  '/var/log/ganeti/kvm': (name) => [`${name}.log`, 'words of QEMU'],
}

function put(folder: string, name: string, hoursAgo: number): string {
  const [file, text] = KEPT[folder]?.(name) ?? ['', '']
  const local = node.put(`${folder}/${file}`, text)
  const time = Date.now() / 1000 - hoursAgo * 3600
  fs.utimesSync(local, time, time)
  return local
}

test.each(Object.keys(KEPT))('files of instances that are no more go from %s', async (folder) => {
  const here = put(folder, 'here.test', 100)
  const gone = put(folder, 'gone.test', 2)
  const young = put(folder, 'coming.test', 0)
  const reported = { master_node: [node.context.hostname], instance_list: ['here.test'] }
  // A node that belongs to no cluster keeps what it has.
  await fileHandlers.write_ssconf_files(node.context, reported)
  expect(fs.existsSync(gone)).toBe(true)
  node.put('/var/lib/ganeti/ssconf_cluster_name', 'cluster.test\n')
  await fileHandlers.write_ssconf_files(node.context, reported)
  expect([here, gone, young].map((file) => fs.existsSync(file))).toEqual([true, false, true])
  // Not for every change of the cluster.
  put(folder, 'gone.test', 2)
  await fileHandlers.write_ssconf_files(node.context, reported)
  expect(fs.existsSync(gone)).toBe(true)
})

test('a wall clock that is set back holds up no cleaning', async () => {
  node.put('/var/lib/ganeti/ssconf_cluster_name', 'cluster.test\n')
  const times = { wall_ms: Date.now(), monotonic_ms: 0 }
  const clock = { ...systemClock, now_ms: () => times.wall_ms, monotonic_ms: () => times.monotonic_ms }
  const reported = { master_node: [node.context.hostname], instance_list: [] }
  const context = { ...node.context, clock }
  await fileHandlers.write_ssconf_files(context, reported)
  times.wall_ms -= 24 * 3600_000
  times.monotonic_ms += 2 * 3600_000
  const gone = put('/var/log/ganeti/kvm', 'gone.test', 48)
  await fileHandlers.write_ssconf_files(context, reported)
  expect(fs.existsSync(gone)).toBe(false)
})

test('the oldest directories of the archive of jobs go', async () => {
  for (let at = 0; at < 30; at++) node.put(`/var/lib/ganeti/queue/archive/${at}/job-${at}0000`, '{}')
  await pruneArchive(node.context)
  const left = fs.readdirSync(node.paths.archiveDir).map(Number)
  expect(left.sort((a, b) => a - b)).toEqual(Array.from({ length: ARCHIVE_DIRECTORIES_MAX }, (_, at) => 10 + at))
})

test('the oldest of the logs that pile up go', async () => {
  const folder = path.dirname(node.put('/var/log/ganeti/os/add-0.log', ''))
  for (let at = 0; at < 5; at++) {
    fs.writeFileSync(path.join(folder, `add-${at}.log`), '')
    fs.utimesSync(path.join(folder, `add-${at}.log`), 1000 + at, 1000 + at)
  }
  await keepNewest(systemFiles, folder, 3)
  expect(fs.readdirSync(folder)).toEqual(['add-2.log', 'add-3.log', 'add-4.log'])
  await keepNewest(systemFiles, path.join(folder, 'not-there'), 3)
})

test('two that clean one folder at once do not harm each other', async () => {
  const folder = path.dirname(node.put('/var/log/ganeti/os/add-0.log', ''))
  for (let at = 0; at < 200; at++) fs.writeFileSync(path.join(folder, `add-${at}.log`), '')
  await Promise.all(Array.from({ length: 8 }, () => keepNewest(systemFiles, folder, 3)))
  expect(fs.readdirSync(folder)).toHaveLength(3)
})
