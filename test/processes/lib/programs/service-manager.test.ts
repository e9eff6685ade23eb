// What a daemon tells systemd; a double takes the place of systemd-notify.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { serviceManager } from '../../../../src/lib/programs/service-manager'
import { eventually } from '../../../support/hypervisor'

let folder: string
let reported: string
const { PATH } = process.env
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'service-manager-'))
  reported = path.join(folder, 'told')
  fs.writeFileSync(reported, '')
  fs.writeFileSync(path.join(folder, 'systemd-notify'), `#!/bin/sh\necho "$NOTIFY_SOCKET $*" >> ${reported}\n`, {
    mode: 0o755,
  })
  process.env['PATH'] = `${folder}:${PATH}`
})
afterEach(() => {
  process.env['PATH'] = PATH
  fs.rmSync(folder, { recursive: true })
})

const words = () => fs.readFileSync(reported, 'utf8').split('\n').slice(0, -1)
const said = (word: string) => eventually(async () => words().find((line) => line.endsWith(` ${word}`)))

test('a daemon that systemd started says that it can be used, that it is alive, and that it stops', async () => {
  process.env['NOTIFY_SOCKET'] = '/run/notify'
  process.env['WATCHDOG_USEC'] = '30000'
  const manager = serviceManager()
  // Its children have no voice.
  expect([process.env['NOTIFY_SOCKET'], process.env['WATCHDOG_USEC']]).toEqual([undefined, undefined])
  manager.ready()
  expect(await said('READY=1')).toBe(`/run/notify --pid=${process.pid} READY=1`)
  await eventually(async () => words().filter((line) => line.endsWith('WATCHDOG=1')).length > 2 || undefined)
  manager.stopping()
  await said('STOPPING=1')
})

test('without a watchdog there are no signs of life, and without systemd no word at all', async () => {
  process.env['NOTIFY_SOCKET'] = '/run/notify'
  const manager = serviceManager()
  manager.ready()
  await said('READY=1')
  manager.stopping()
  await said('STOPPING=1')
  const nobody = serviceManager()
  nobody.ready()
  nobody.stopping()
  // What was said before this one's words would be there by then.
  process.env['NOTIFY_SOCKET'] = '/run/other'
  serviceManager().ready()
  await eventually(() => words().find((line) => line.startsWith('/run/other ')))
  expect(
    words()
      .filter((line) => !line.startsWith('/run/other '))
      .map((line) => line.split(' ').at(-1))
      .sort(),
  ).toEqual(['READY=1', 'STOPPING=1'])
})
