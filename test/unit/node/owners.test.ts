// Whether a node finds what has a wrong owner or mode, and says how to mend it. Without root, or without Ganeti's accounts, only modes count.
import * as fs from 'node:fs'
import { fileOwner } from '../../../src/lib/file/accounts'
import { systemFiles } from '../../../src/lib/files'
import { MISPLACED_TOLD_MAX } from '../../../src/model/limits/node'
import { PATH } from '../../../src/model/constants/paths'
import { DIRECTORIES } from '../../../src/model/owners'
import { misplacedFiles } from '../../../src/node/owners'
import { ensureDirectories } from '../../../src/start/ensure-dirs'
import { clockAt } from '../../support/instant-clock'
import { testNode } from '../../support/node-context'

const input = fileOwner(fs, 'gnt-masterd', 'gnt-daemons') !== undefined
const node = testNode('node1.example.com', { clock: clockAt(2_000_000_000) })
const { context, paths } = node
beforeEach(() => ensureDirectories(paths))
afterAll(() => node.remove())

test('a node whose files are as the table has them finds nothing', async () => {
  await context.disk.write(paths.ssconf('cluster_name'), 'c\n')
  await context.disk.write(paths.configFile, '{}')
  node.put('/var/lib/ganeti/a-file-of-somebody', '', 0o666)
  expect(await misplacedFiles(context)).toEqual([])
})

test('every directory of the table is there from the start, so that who needs one does not make it with other owners', () => {
  expect(DIRECTORIES).toContain(PATH.DISK_LINKS_DIR)
  for (const directory of DIRECTORIES) expect(fs.statSync(paths.local(directory)).isDirectory()).toBe(true)
})

test('a wrong mode is told with the right one and the command that mends it, which does', async () => {
  await context.disk.write(paths.hmacKey, 'secret')
  await context.disk.write(`${paths.queueDir}/job-17`, '{}')
  fs.chmodSync(paths.hmacKey, 0o644)
  fs.chmodSync(`${paths.queueDir}/job-17`, 0o666)
  const found = await misplacedFiles(context)
  const mended = `run 'GANETI_ROOTDIR=${paths.root} GANETI_HOSTNAME=node1.example.com gantryd ensure-dirs' there`
  const about = input ? 'gnt-\\S+ with (mode )?' : '(mode )?'
  expect(found).toEqual([
    expect.stringMatching(new RegExp(`^/var/lib/ganeti/hmac.key .*${about}0644, and should .*0?4[04]0: run`)),
    expect.stringMatching(new RegExp(`^/var/lib/ganeti/queue/job-17 .*${about}0666, and should .*06[04]0: run`)),
  ])
  expect(found.every((text) => text.endsWith(mended))).toBe(true)
  await ensureDirectories(paths)
  expect(await misplacedFiles(context)).toEqual([])
})

test('a file that got its mode meanwhile, and one that is gone, are not told', async () => {
  await context.disk.write(paths.rapiCert, 'pem')
  await context.disk.write(paths.clientCert, 'pem')
  for (const file of [paths.rapiCert, paths.clientCert]) fs.chmodSync(file, 0o644)
  const sleep = async () => {
    await ensureDirectories(paths)
    fs.rmSync(paths.clientCert)
  }
  expect(await misplacedFiles({ ...context, clock: { ...context.clock, sleep } })).toEqual([])
})

test('a link is nobody’s concern', async () => {
  fs.symlinkSync('/dev/null', `${paths.queueDir}/job-18`)
  expect(await misplacedFiles(context)).toEqual([])
})

test('each file costs one stat, and of very many wrong ones some are told', async () => {
  for (let id = 100; id < 140; id++) node.put(`/var/lib/ganeti/queue/job-${id}`, '{}', 0o640)
  for (let id = 100; id < 140; id++) fs.chmodSync(`${paths.queueDir}/job-${id}`, 0o666)
  const lstat = jest.fn(systemFiles.lstat) as unknown as typeof systemFiles.lstat
  const found = await misplacedFiles({ ...context, files: { ...context.files, lstat } })
  expect(found).toHaveLength(MISPLACED_TOLD_MAX + 1)
  expect(found.at(-1)).toMatch(/^20 more files have wrong owners or modes: run/)
  const requested = jest.mocked(lstat).mock.calls.map(([file]) => String(file))
  // Those that were wrong are looked at twice.
  expect(requested.length - new Set(requested).size).toBe(40)
})
