// Errors of the system become sentences for administrators.
import * as os from 'node:os'
import { describeError } from '../../../src/cli/output/errors'
import { errorReply } from '../../../src/daemons/rapi/errors'
import { problemOf } from '../../../src/daemons/rapi/v3/problem'
import { systemDisk } from '../../../src/lib/disk'
import { silentLog } from '../../../src/lib/log'
import { checkLimits } from '../../../src/lib/programs/process-limits'
import { runCommand } from '../../../src/lib/programs/run-command'
import { systemFailure } from '../../../src/lib/system-failure'
import { errorFromWire, errorToWire, GenericError } from '../../../src/model/errors'
import { toWire } from '../../../src/rpc/json-protocol'
import { messageOf } from '../../../src/rpc/node/protocol'

const refusal = (code: string, more: object = { syscall: 'write', path: '/proc/no/such/file' }) =>
  Object.assign(new Error(`${code}: as the system says it`), { code, ...more })
const FULL = refusal('ENOSPC')

test.each([
  [
    'ENOSPC',
    /^The disk is full: \/proc\/no\/such\/file cannot be written; free some room on the file system mounted on \/proc/,
  ],
  ['EDQUOT', /^The disk quota is used up: .* mounted on \/proc/],
  ['EROFS', /^The disk is read-only: .* make the file system mounted on \/proc writable/],
  ['EIO', /^The disk fails: .* about the file system mounted on \/proc/],
  ['EMFILE', /^Too many open files: .* this process may have \d+ open files: raise that .*ulimit -n/],
  ['ENFILE', /^Too many open files on this machine: .* fs.file-max/],
])('%s says what is wrong, and where', (code, text) => {
  expect(systemFailure(refusal(code))).toMatch(text)
})

test('a file system that has room for bytes but not for files says so', () => {
  expect(systemFailure(FULL)).toMatch(/\(ENOSPC\)$/)
  expect(systemFailure(refusal('ENOSPC', { syscall: 'open', path: os.tmpdir() }))).toMatch(/of \d+ MiB are free/)
})

test('a program for which there is no process or no descriptor is named', () => {
  const spawning = { syscall: 'spawn /os/verify', path: '/os/verify' }
  expect(systemFailure(refusal('EMFILE', spawning))).toMatch(/^Too many open files: \/os\/verify cannot be started/)
  expect(systemFailure(refusal('EAGAIN', spawning))).toMatch(
    /^Too many processes: \/os\/verify cannot be started.*ulimit -u/,
  )
})

test('a port that cannot be had is named, with the way to have it', () => {
  const port = { syscall: 'listen', address: '127.0.1.1', port: 80 }
  expect(systemFailure(refusal('EACCES', port))).toMatch(
    /^Port 80 of 127.0.1.1 is only for root; .*ip_unprivileged_port_start=80.*setcap .* \(EACCES\)$/,
  )
  expect(systemFailure(refusal('EADDRINUSE', port))).toMatch(/^Port 80 of 127.0.1.1 is taken .*"ss -lntup".*$/)
  expect(systemFailure(refusal('EADDRINUSE', { syscall: 'listen', address: '/run/x.sock', port: -1 }))).toBeUndefined()
})

test('an error with other reasons is left as it is', () => {
  for (const error of [refusal('EAGAIN'), refusal('EIO', { syscall: 'read' }), refusal('ENOENT'), new Error('x'), null])
    expect(systemFailure(error)).toBeUndefined()
})

test('every door tells it, and no defect is reported', () => {
  const said = expect.stringMatching(/^The disk is full/) as unknown
  expect(toWire(FULL, 'gantryAcquire', silentLog)).toEqual(['OpExecError', [said]])
  expect(errorToWire(FULL)).toEqual(['OpExecError', [said]])
  expect(messageOf(FULL)).toEqual(said)
  expect(String(errorReply(FULL, silentLog).body)).toContain('The disk is full')
  expect(problemOf(FULL, silentLog)).toMatchObject({ status: 507, detail: said })
  // As luxid tells it of its own disk, and of that of a job's file.
  const reported = errorFromWire(errorToWire(FULL))
  for (const error of [reported, new GenericError(messageOf(FULL))])
    expect(problemOf(error, silentLog)).toMatchObject({ status: 507, detail: said })
  expect(describeError(FULL).lines).toEqual([expect.stringMatching(/^Failure: The disk is full/)])
})

test('an error about a file that is open already names it', async () => {
  const appender = await systemDisk.openAppender('/dev/full', { durable: false })
  const error: unknown = await appender.append(Buffer.from('x')).catch((thrown: unknown) => thrown)
  await appender.close()
  expect(systemFailure(error)).toMatch(/^The disk is full: \/dev\/full cannot be written/)
})

test('a program that cannot be started says why in its output', async () => {
  expect(await runCommand(['/no/such/program'], { timeout_s: 60 })).toMatchObject({
    code: 127,
    output: expect.stringContaining('ENOENT'),
  })
})

describe('the limits that a daemon is started with', () => {
  const needs = { files: { least: 128, enough: 4096 }, processes: { least: 64, enough: 1024 } }
  test('that are high enough are not spoken of', () => {
    expect(checkLimits(needs, () => 4096)).toEqual([])
    expect(checkLimits(needs, () => undefined)).toEqual([])
  })
  test('that are low are told with what is enough', () => {
    expect(checkLimits(needs, () => 1000)).toEqual([
      expect.stringMatching(/may have 1000 open files; with less than 4096 .*LimitNOFILE=4096/),
      expect.stringMatching(/may have 1000 processes; with less than 1024 .*LimitNPROC=1024/),
    ])
  })
  test('that are too low for any work end it', () => {
    expect(() => checkLimits(needs, () => 100)).toThrow(
      /may have 100 open files and needs at least 128.*LimitNOFILE=4096/,
    )
  })
})
