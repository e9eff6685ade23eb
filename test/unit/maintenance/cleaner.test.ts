// What the cleaner removes, and what it leaves.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { systemFiles } from '../../../src/lib/files'
import { pathsOf } from '../../../src/lib/paths'
import { clean } from '../../../src/maintenance/cleaner'
import { CLEANER_KEEPS_DAYS, CLEANER_LOGS_MAX } from '../../../src/model/limits/watcher'
import { clockAt } from '../../support/instant-clock'

const DAY_S = 86_400
const NOW_S = 1_900_000_000
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-cleaner-'))
const paths = pathsOf(path.join(folder, 'node1'), 'node1')
afterAll(() => fs.rmSync(folder, { recursive: true }))
beforeEach(() => fs.rmSync(paths.root, { recursive: true, force: true }))

function put(virtual: string, age_days: number, text = ''): string {
  const file = paths.local(virtual)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, text)
  fs.utimesSync(file, NOW_S - age_days * DAY_S, NOW_S - age_days * DAY_S)
  return file
}
const run = (part: 'node' | 'master') =>
  clean(part, {
    ...{ files: systemFiles, paths, clock: clockAt(NOW_S * 1000), pid: 7 },
    expiry_ms(text) {
      if (text === 'none') throw new Error('no certificate')
      return Number(text) * 1000
    },
  })
const inCluster = () => put('/var/lib/ganeti/ssconf_master_node', 0, 'node1\n')
const OLD = CLEANER_KEEPS_DAYS + 2
const UUID = '11111111-2222-4333-8444-555555555555'

test('a node loses files of node groups that nobody looks after any more', async () => {
  inCluster()
  const old = [`watcher.${UUID}.data`, `watcher.${UUID}.instance-status`].map((one) =>
    put(`/var/lib/ganeti/${one}`, OLD),
  )
  const kept = [
    put('/var/lib/ganeti/watcher.pause', OLD),
    put('/var/lib/ganeti/config.data', OLD),
    put(`/var/lib/ganeti/watcher.${UUID.replace('1', '2')}.data`, CLEANER_KEEPS_DAYS),
  ]
  expect((await run('node')).sort()).toEqual(old.sort())
  expect(kept.map((file) => fs.existsSync(file))).toEqual([true, true, true])
})

test('and expired keys, but not what it cannot read', async () => {
  const keys = '/var/run/ganeti/crypto'
  const gone = [put(`${keys}/old/cert`, 1, String(NOW_S - 1)), put(`${keys}/old/key`, 1)]
  put(`${keys}/new/cert`, 1, String(NOW_S + 60))
  put(`${keys}/odd/cert`, 1, 'none')
  expect((await run('node')).sort()).toEqual(gone.sort())
  expect(fs.readdirSync(paths.local(keys)).sort()).toEqual(['new', 'odd'])
})

test('and exports that were killed, but no whole ones, and none that is under way', async () => {
  const exports = '/var/lib/ganeti/export'
  const gone = [put(`${exports}/vm1.new/disk0`, 3), put(`${exports}/vm1.new/disk1`, 4)]
  const kept = [
    put(`${exports}/vm2.new/disk0`, 3),
    put(`${exports}/vm2.new/disk1`, 1),
    put(`${exports}/web.new/disk0`, 3),
    put(`${exports}/web.new/config.ini`, 3),
    put(`${exports}/vm3/disk0`, 3),
  ]
  for (const name of ['vm1.new', 'vm2.new', 'web.new', 'vm3'])
    fs.utimesSync(paths.local(`${exports}/${name}`), NOW_S - 3 * DAY_S, NOW_S - 3 * DAY_S)
  expect((await run('node')).sort()).toEqual(gone.sort())
  expect(fs.existsSync(paths.local(`${exports}/vm1.new`))).toBe(false)
  expect(kept.filter((file) => !fs.existsSync(file))).toEqual([])
})

test('and what transfers have left that nobody asks for any more', async () => {
  const transfers = '/var/run/ganeti/import-export'
  const gone = ['pid', 'status'].map((name) => put(`${transfers}/import-disk0-a/${name}`, 3))
  const kept = [put(`${transfers}/import-disk0-b/pid`, 3), put(`${transfers}/import-disk0-b/status`, 0)]
  for (const name of ['a', 'b'])
    fs.utimesSync(paths.local(`${transfers}/import-disk0-${name}`), NOW_S - 3 * DAY_S, NOW_S - 3 * DAY_S)
  expect((await run('node')).sort()).toEqual(gone)
  expect(fs.existsSync(paths.local(`${transfers}/import-disk0-a`))).toBe(false)
  expect(kept.filter((file) => !fs.existsSync(file))).toEqual([])
})

test('the master loses jobs that were archived long ago', async () => {
  inCluster()
  const old = put('/var/lib/ganeti/queue/archive/0/job-1', OLD)
  put('/var/lib/ganeti/queue/archive/0/job-2', CLEANER_KEEPS_DAYS)
  put('/var/lib/ganeti/queue/job-3', OLD)
  put(`/var/lib/ganeti/watcher.${UUID}.data`, OLD)
  expect(await run('master')).toEqual([old])
})

test('a machine that is in no cluster loses nothing of one', async () => {
  put('/var/lib/ganeti/queue/archive/0/job-1', OLD)
  put(`/var/lib/ganeti/watcher.${UUID}.data`, OLD)
  expect([...(await run('master')), ...(await run('node'))]).toEqual([])
})

test('each run has a log, and so many of them are kept', async () => {
  for (let at = 0; at < CLEANER_LOGS_MAX + 5; at++) put(`/var/log/ganeti/cleaner/cleaner-2020-${100 + at}.log`, OLD)
  await run('node')
  const logs = fs.readdirSync(paths.local('/var/log/ganeti/cleaner')).sort()
  expect(logs).toHaveLength(CLEANER_LOGS_MAX)
  expect(logs.at(-1)).toMatch(/^cleaner-2030-03-17_\d\d_\d\d_\d\d\.7\.log$/)
})
