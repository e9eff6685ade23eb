// What the watcher does with daemons of the master that do not answer, with processes that stand for them.
import { type ChildProcess, spawn } from 'node:child_process'
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as os from 'node:os'
import * as path from 'node:path'
import { type Clock, systemClock } from '../../../src/lib/clock'
import { createLog } from '../../../src/lib/log'
import { pathsOf } from '../../../src/lib/paths'
import { PORT } from '../../../src/model/constants/daemons'
import { lookAfterDaemons } from '../../../src/start/watcher-duties'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-duties-'))
const paths = pathsOf(path.join(folder, 'node1'), 'node1')
const log = createLog('watcher', { level: 'fatal' })
/** Nobody waits long for daemons that are not there. */
const clock: Clock = {
  ...systemClock,
  sleep: () => systemClock.sleep(10),
  after: (delay_ms, run, options) => systemClock.after(Math.min(delay_ms, 50), run, options),
}
/** Nobody else has it, so that the remote API's port is free there. */
const rapiIp = `127.91.${(process.pid >> 8) & 255}.${process.pid & 255}`

let rapi: ChildProcess
let server: net.Server | undefined
beforeEach(() => {
  fs.mkdirSync(paths.runDir, { recursive: true })
  rapi = spawn('sh', ['-c', 'while :; do sleep 0.1; done', 'ganeti-rapi'], { stdio: 'ignore' })
})
afterEach(async () => {
  rapi.kill('SIGKILL')
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)))
})
afterAll(() => fs.rmSync(folder, { recursive: true }))

const writePid = () => fs.writeFileSync(paths.pidFile('rapi'), `${rapi.pid}\n`)

/** Hangs up on everybody, after it has said something. */
const serve = (requested: () => void, words = '') =>
  new Promise<void>((resolve) => {
    server = net.createServer((socket) => {
      requested()
      socket.on('error', () => undefined).resume()
      if (words === '') socket.destroy()
      else socket.end(words)
    })
    server.listen(PORT.rapi, rapiIp, () => resolve())
  })

test('a remote API that does not answer is ended', async () => {
  writePid()
  await serve(() => undefined)
  const ended = new Promise((resolve) => rapi.once('exit', (_code, signal) => resolve(signal)))
  rapi.once('exit', () => fs.rmSync(paths.pidFile('rapi')))
  await lookAfterDaemons({ paths, log, clock, rapiIp })
  expect(await ended).toBe('SIGTERM')
})

test('one that speaks plain HTTP is alive', async () => {
  writePid()
  await serve(() => undefined, 'HTTP/1.1 400 Bad Request\r\n\r\n')
  await lookAfterDaemons({ paths, log, clock, rapiIp })
  expect([rapi.exitCode, rapi.signalCode]).toEqual([null, null])
})

test('one that has only begun when it was asked is left alone', async () => {
  await serve(writePid)
  await lookAfterDaemons({ paths, log, clock, rapiIp })
  expect(fs.existsSync(paths.pidFile('rapi'))).toBe(true)
  expect([rapi.exitCode, rapi.signalCode]).toEqual([null, null])
})
