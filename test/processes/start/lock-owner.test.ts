// A lock file that root has made keeps no daemon out that runs under its own account. Shown with accounts that only the test's processes see.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { pathsOf } from '../../../src/lib/paths'
import { EXIT } from '../../../src/model/constants/daemons'
import { claimOfFile } from '../../../src/model/owners'
import { ROLES } from '../../../src/roles/table'
import { mayRename } from '../../support/own-names'
import { root } from '../../support/source-tree'

const NAME = 'node1.example.com'
const GANTRYD = path.join(root, 'bin/gantryd.js')
const [UID, DAEMONS] = [65533, 65532]
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lock-owner-'))
const paths = pathsOf(path.join(folder, NAME), NAME)
afterAll(() => fs.rmSync(folder, { recursive: true }))

test.each(ROLES.map(({ name, user }) => [name, user]))('the lock of %s belongs to %s', (name, user) => {
  expect(claimOfFile(pathsOf('', NAME).roleLock(name))).toEqual({ owner: user, group: 'gnt-daemons', mode: 0o660 })
})

/** With accounts of Ganeti, as `user`. */
function gantryd(user: string, ...words: readonly string[]) {
  const [passwd, group] = ['passwd', 'group'].map((name) => path.join(folder, name))
  const inside = [
    `mount --bind ${passwd} /etc/passwd`,
    `mount --bind ${group} /etc/group`,
    `exec setpriv --reuid=${user} --regid=${user === 'root' ? 'root' : DAEMONS} --init-groups "$@"`,
  ]
  const argv = ['--mount', 'sh', '-ec', inside.join('\n'), 'sh', process.execPath, GANTRYD, ...words]
  const env = { ...process.env, GANETI_ROOTDIR: paths.root, GANETI_HOSTNAME: NAME }
  return spawnSync('unshare', argv, { env, encoding: 'utf8' })
}

function makeAccounts(): void {
  const accounts = ['masterd', 'rapi', 'confd', 'metad'].map((name, i) => [`gnt-${name}`, UID - 10 * i] as const)
  const groups = [...accounts, ['gnt-luxid', 60001], ['gnt-admin', 60002]] as const
  const known = (file: string) => fs.readFileSync(file, 'utf8').trimEnd()
  fs.writeFileSync(
    path.join(folder, 'passwd'),
    [known('/etc/passwd'), ...accounts.map(([name, id]) => `${name}:x:${id}:${id}::/:/bin/false`), ''].join('\n'),
  )
  const lines = groups.map(([name, id]) => `${name}:x:${id}:gnt-masterd`)
  fs.writeFileSync(
    path.join(folder, 'group'),
    [known('/etc/group'), ...lines, `gnt-daemons:x:${DAEMONS}:gnt-masterd,gnt-rapi,gnt-confd,gnt-metad`, ''].join('\n'),
  )
}

/** Other accounts cannot read it in a home of root, or where it was made with a umask such as 0077. */
const othersMayRead = () =>
  spawnSync('setpriv', ['--reuid=65534', '--clear-groups', 'test', '-r', path.join(root, 'dist/main.js')]).status === 0
const rootOnly = mayRename && othersMayRead() ? test : test.skip

rootOnly(
  'root has run wconfd once, and its account starts it later (needs root, and a project that all may read)',
  () => {
    fs.chmodSync(folder, 0o755)
    makeAccounts()
    fs.mkdirSync(paths.root)
    expect(gantryd('root', 'ensure-dirs')).toMatchObject({ status: 0, stderr: '' })
    const lock = paths.roleLock('wconfd')
    // It gets as far as the lock, and ends because there is no cluster.
    const says = expect.not.stringContaining('ganeti-wconfd.lock') as string
    expect(gantryd('root', 'wconfd', '-f')).toMatchObject({ status: EXIT.notMaster, stderr: says })
    expect(gantryd('gnt-masterd', 'wconfd', '-f')).toMatchObject({ status: EXIT.notMaster, stderr: says })

    // As where the accounts are newer than the file: the text says what helps, and that does.
    fs.chownSync(lock, 0, 0)
    fs.chmodSync(lock, 0o600)
    expect(gantryd('gnt-masterd', 'wconfd', '-f').stderr).toMatch(/cannot lock .*EACCES.*As root, .*ensure-dirs/)
    expect(gantryd('root', 'ensure-dirs').status).toBe(0)
    expect(gantryd('gnt-masterd', 'wconfd', '-f')).toMatchObject({ status: EXIT.notMaster, stderr: says })
  },
)
