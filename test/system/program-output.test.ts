// Programs whose reader leaves end quietly; programs whose output cannot be kept say so.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as os from 'node:os'
import * as path from 'node:path'
import { RELEASE_VERSION } from '../../src/model/constants/versions'
import { runProgram } from '../support/run-program'

const BIN = path.join(__dirname, '../../bin')
const BRIDGE = path.join(__dirname, '../../dist/node/hypervisor/kvm/console-bridge.js')
const LINES = [
  ['gnt.js', '--version'],
  ['gnt.js', 'instance', 'list', '--help'],
  ['hbal.js', '--help'],
  ['gantryd.js', '--help'],
  ['gantryd.js', 'luxid', '--version'],
]

test.each(LINES)('%s %s to a full disk is a failure that says so', (program, ...words) => {
  const full = fs.openSync('/dev/full', 'w')
  const args = [path.join(BIN, program ?? ''), ...words]
  const { status, stderr } = spawnSync(process.execPath, args, { stdio: ['ignore', full, 'pipe'], encoding: 'utf8' })
  fs.closeSync(full)
  expect(stderr).toMatch(/^\w+: the output cannot be written: ENOSPC.*\n$/)
  expect(status).toBe(1)
})

test.each(LINES)('%s %s whose reader is gone ends quietly', (program, ...words) => {
  const line = 'exec 3> >(:); wait $!; "$0" "$@" >&3; echo $?'
  const args = ['-c', line, process.execPath, path.join(BIN, program ?? ''), ...words]
  const { stdout, stderr } = spawnSync('bash', args, { encoding: 'utf8' })
  expect([stdout, stderr]).toEqual(['0\n', ''])
})

test.each(['noded', 'rapi', 'luxid', 'wconfd', 'node'])(
  '%s tells its version, by both of its names, and starts nothing',
  (role) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-version-'))
    const named = path.join(folder, `ganeti-${role}`)
    fs.symlinkSync(path.join(BIN, 'gantryd'), named)
    const env = {
      PATH: process.env['PATH'],
      GANETI_ROOTDIR: path.join(folder, 'node1.test'),
      GANETI_HOSTNAME: 'node1.test',
    }
    const lines: readonly [program: string, ...words: string[]][] = [[path.join(BIN, 'gantryd'), role], [named]]
    for (const [program, ...words] of lines) {
      const { status, stdout, stderr } = spawnSync(program, [...words, '--version'], { env, encoding: 'utf8' })
      expect([status, stdout, stderr]).toEqual([0, `ganeti-${role} (ganeti) ${RELEASE_VERSION}\n`, ''])
    }
    expect(fs.readdirSync(folder)).toEqual([path.basename(named)])
    fs.rmSync(folder, { recursive: true })
  },
)

test('a console whose reader has seen enough ends quietly', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-bridge-'))
  const socket = path.join(folder, 'serial')
  const server = net.createServer((guest) => {
    // A guest that never stops talking.
    const talking = setInterval(() => guest.write('tick\n'), 1)
    guest.on('error', () => undefined).on('close', () => clearInterval(talking))
  })
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  const line = '"$0" "$@" | head -2; echo ${PIPESTATUS[0]}'
  const { out, err } = await runProgram('bash', ['-c', line, process.execPath, BRIDGE, socket])
  server.close()
  fs.rmSync(folder, { recursive: true })
  expect([out, err]).toEqual(['[connected; ctrl-] leaves]\r\ntick\n0\n', ''])
})
