// What the scripts of the packages do to a system, shown on a directory that stands for one.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'

const SCRIPTS = path.join(__dirname, '../../../packaging/maintainer')
const LOG = '/var/log/ganeti/node-daemon.log'
const CERTIFICATE = '/var/lib/ganeti/server.pem'

let root: string
beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'maintainer-'))
})
afterEach(() => {
  fs.rmSync(root, { recursive: true })
})

const there = (file: string): boolean => fs.existsSync(path.join(root, file))

function put(...files: string[]): void {
  for (const file of files) {
    fs.mkdirSync(path.join(root, path.dirname(file)), { recursive: true })
    fs.writeFileSync(path.join(root, file), '')
  }
}

/** Only with programs that every system has, so that this machine's units are left alone. */
function purge(): void {
  const bin = path.join(root, 'bin')
  fs.mkdirSync(bin)
  for (const name of ['rm', 'rmdir']) fs.symlinkSync(`/bin/${name}`, path.join(bin, name))
  execFileSync('/bin/sh', [path.join(SCRIPTS, 'gantry.postrm'), 'purge'], { env: { DPKG_ROOT: root, PATH: bin } })
}

test('a package that is purged leaves the logs of a cluster that Ganeti may run by now', () => {
  put(LOG, CERTIFICATE, '/var/lib/ganeti/config.data')
  purge()
  expect([LOG, CERTIFICATE, '/var/lib/ganeti/config.data'].filter(there)).toHaveLength(3)
})

test('a package that is purged where no cluster is leaves nothing', () => {
  put(LOG, '/var/lib/systemd/timers/stamp-ganeti-watcher.timer')
  fs.mkdirSync(path.join(root, '/var/lib/ganeti/queue/archive'), { recursive: true })
  purge()
  expect(['/var/log/ganeti', '/var/lib/ganeti', '/var/lib/systemd/timers/stamp-ganeti-watcher.timer'].filter(there)).toEqual([]) // prettier-ignore
})
