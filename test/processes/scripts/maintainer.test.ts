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
function purge(name = 'gantry', word = 'purge'): void {
  const bin = path.join(root, 'bin')
  fs.rmSync(bin, { recursive: true, force: true })
  fs.mkdirSync(bin)
  for (const program of ['rm', 'rmdir']) fs.symlinkSync(`/bin/${program}`, path.join(bin, program))
  execFileSync('/bin/sh', [path.join(SCRIPTS, `${name}.postrm`), word], { env: { DPKG_ROOT: root, PATH: bin } })
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

test.each(['gantry', 'gantry-adopt'])(
  '%s: what an adoption keeps goes when it is purged where no cluster is',
  (name) => {
    const kept = ['/var/lib/gantry-adopt/ganeti/ganeti_3.0.2_all.deb', '/var/lib/gantry-adopt/log']
    put(...kept, CERTIFICATE)
    purge(name)
    expect(kept.filter(there)).toEqual(kept)
    fs.rmSync(path.join(root, CERTIFICATE))
    purge(name, 'remove')
    expect(kept.filter(there)).toEqual(kept)
    purge(name)
    expect(there('/var/lib/gantry-adopt')).toBe(false)
  },
)
