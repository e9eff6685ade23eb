// What stays of Ganeti's package when it goes: a shell puts unchanged files aside, and brings them back.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { conffilesProbe, setAside, takeBack } from '../../../src/bootstrap/adoption/conffiles'
import { readFacts, SAY } from '../../../src/bootstrap/adoption/probe'

const IFUP = '/etc/ganeti/kvm-ifup-os'
const GUARD = '/etc/molly-guard/run.d/15-ganeti'
const BRIDGE = '/etc/ganeti/kvm-vif-bridge'
const PACKAGED = '#!/bin/sh\n# /usr/lib/ganeti/daemon-util is not meant\n. /usr/lib/ganeti/net-common\n'

let root: string
beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'conffiles-'))
  put(IFUP, PACKAGED)
  put(GUARD, PACKAGED)
  // dpkg tells which files a package brought, and their sums.
  const sum = createHash('md5').update(PACKAGED).digest('hex')
  const lines = [IFUP, GUARD].map((file) => ` ${file} ${sum}`).join('\n')
  put('/bin/dpkg-query', `#!/bin/sh\n[ "$*" = '-W -f \${Conffiles}\\n ganeti' ] && printf '%s\\n' '${lines}'\n`)
})
afterEach(() => fs.rmSync(root, { recursive: true }))

function put(file: string, text: string): void {
  fs.mkdirSync(path.join(root, path.dirname(file)), { recursive: true })
  fs.writeFileSync(path.join(root, file), text, { mode: 0o755 })
}
const place = () => path.join(root, 'aside')
const run = (script: string): string =>
  execFileSync('sh', ['-c', `set -e\n${script}`], {
    encoding: 'utf8',
    env: { PATH: `${path.join(root, 'bin')}:${process.env['PATH']}` },
  })
const read = (file: string) =>
  fs.existsSync(path.join(root, file)) ? fs.readFileSync(path.join(root, file), 'utf8') : undefined

test('files that do harm without the package are put aside, and come back with it', () => {
  run(setAside(place(), root))
  expect([read(IFUP), read(GUARD)]).toEqual([undefined, undefined])
  // An adoption that was interrupted does all again.
  run(setAside(place(), root))
  run(takeBack(place(), root))
  expect([read(IFUP), read(GUARD)]).toEqual([PACKAGED, PACKAGED])
  expect(fs.statSync(path.join(root, GUARD)).mode & 0o777).toBe(0o755)
  run(takeBack(place(), root))
})

test('one that the administrator has changed stays, and so does one that was made meanwhile', () => {
  put(IFUP, '#!/bin/sh\nmine\n')
  run(setAside(place(), root))
  expect([read(IFUP), read(GUARD)]).toEqual(['#!/bin/sh\nmine\n', undefined])
  put(GUARD, '#!/bin/sh\nexit 0\n')
  run(takeBack(place(), root))
  expect(read(GUARD)).toBe('#!/bin/sh\nexit 0\n')
})

test("a node tells whose each is, and which of the package's files it needs", () => {
  const scripts = () => Object.fromEntries(readFacts(run(`${SAY}\n${conffilesProbe(root)}`)).scripts)
  expect(scripts()).toEqual({
    [IFUP]: 'packaged /usr/lib/ganeti/net-common',
    [GUARD]: 'packaged /usr/lib/ganeti/net-common',
  })
  put(IFUP, '#!/bin/sh\nsource "/usr/share/ganeti/3.0/x"; source /usr/lib/ganeti/net-common\n')
  put(BRIDGE, '#!/bin/sh\nip link set "$INTERFACE" up\n')
  fs.chmodSync(path.join(root, GUARD), 0o644)
  expect(scripts()).toEqual({ [BRIDGE]: 'own', [IFUP]: 'own /usr/lib/ganeti/net-common /usr/share/ganeti/3.0/x' })
})
