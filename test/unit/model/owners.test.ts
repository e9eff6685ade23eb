// Owners and modes as Ganeti's ensure-dirs has them. Without root, or without Ganeti's accounts, files stay with who writes them.
import * as fs from 'node:fs'
import { once } from 'node:events'
import * as net from 'node:net'
import * as os from 'node:os'
import * as path from 'node:path'
import { fileOwner } from '../../../src/lib/file/accounts'
import { belonging, claim, claimAll, ownedDisk } from '../../../src/model/owners'

const mockAfterLook: { action?: (() => void) | undefined } = {}

jest.mock('node:fs', () => {
  const actual = jest.requireActual<typeof fs>('node:fs')
  const then = <T>(found: T): T => {
    const { action } = mockAfterLook
    mockAfterLook.action = undefined
    action?.()
    return found
  }
  return {
    ...actual,
    fstatSync: (fd: number) => then(actual.fstatSync(fd)),
    lstatSync: (file: string, options: fs.StatSyncOptions) => then(actual.lstatSync(file, options)),
  }
})

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-owners-'))
const at = (file: string) => path.join(folder, 'node1', file)
afterAll(() => fs.rmSync(folder, { recursive: true }))

/** As where the accounts are there. */
const input = fileOwner(fs, 'gnt-masterd', 'gnt-daemons') !== undefined
const mode = (file: string) => (fs.statSync(file).mode & 0o7777).toString(8)
const owned = (file: string, user: string, group: string, full: string, alone: string) => {
  const { uid, gid } = fs.statSync(file)
  expect([file, uid, gid, mode(file)]).toEqual(
    input
      ? [file, fileOwner(fs, user, group)?.uid, fileOwner(fs, user, group)?.gid, full]
      : [file, process.getuid?.(), process.getgid?.(), alone],
  )
}

test.each([
  ['/var/lib/ganeti/config.data', 0o640, 0o600],
  ['/tmp/cluster/node1/var/lib/ganeti/locks.data', 0o600, 0o600],
  ['/var/lib/ganeti/queue/job-12', 0o640, 0o600],
  ['/var/lib/ganeti/queue/archive/3', 0o750, 0o700],
  ['/var/lib/ganeti/queue/archive/3/job-30001', 0o640, 0o600],
  ['/var/lib/ganeti/ssconf_node_list', 0o444, 0o444],
  ['/var/run/ganeti/instance-reason/vm1.example.com', 0o600, 0o600],
  ['/var/lib/ganeti', 0o755, 0o755],
  ['/var/run/ganeti', 0o775, 0o755],
  ['/var/lib/ganeti/known_hosts', 0o644, 0o644],
  ['/var/lib/ganeti/client.pem.new', 0o440, 0o400],
  ['/var/run/ganeti/kvm-hypervisor/ctrl', 0o775, 0o755],
  ['/var/run/ganeti/socket/metad', 0o700, 0o700],
  ['/var/run/ganeti/lent-disks', 0o700, 0o700],
  ['/var/lib/ganeti/export', 0o750, 0o700],
  ['/var/lib/ganeti/config.data.backup-1760000000', 0o600, 0o600],
  ['/var/lib/ganeti/config.data.before-upgrade', 0o600, 0o600],
  ['/srv/ganeti/file-storage', 0o755, 0o755],
  // A virtual root below a real one's directories.
  ['/var/lib/ganeti/x/var/lib/ganeti/server.pem', 0o440, 0o400],
])('%s', (file, full, alone) => {
  const found = belonging(file)
  expect(found?.mode).toBe(found?.owner === undefined ? alone : full)
})

test.each(['/etc/hosts', '/var/lib/ganeti/strange', '/var/lib/ganeti/queue/other', '/var/lib/ganetix/config.data'])(
  '%s belongs to nobody in particular',
  (file) => expect(belonging(file)).toBeUndefined(),
)

test('files that are written, made or begun are as the table has them', async () => {
  await ownedDisk.makeDirectory(at('/var/lib/ganeti/queue/archive/0'), 0o777)
  owned(at('/var/lib/ganeti'), 'gnt-masterd', 'gnt-masterd', '755', '755')
  owned(at('/var/lib/ganeti/queue'), 'gnt-masterd', 'gnt-daemons', '750', '700')
  owned(at('/var/lib/ganeti/queue/archive/0'), 'gnt-masterd', 'gnt-daemons', '750', '700')
  await ownedDisk.write(at('/var/lib/ganeti/queue/serial'), '1\n', { mode: 0o777 })
  owned(at('/var/lib/ganeti/queue/serial'), 'gnt-masterd', 'gnt-daemons', '640', '600')
  await (await ownedDisk.openAppender(at('/var/lib/ganeti/config.journal'), { mode: 0o666 })).close()
  owned(at('/var/lib/ganeti/config.journal'), 'gnt-masterd', 'gnt-confd', '640', '600')
  await ownedDisk.write(at('/var/lib/ganeti/other'), 'x', { mode: 0o604 })
  expect(mode(at('/var/lib/ganeti/other'))).toBe('604')
})

test('files that another program left are taken over, but for links', async () => {
  await ownedDisk.makeDirectory(at('/var/lib/ganeti/queue'))
  fs.writeFileSync(at('/var/lib/ganeti/queue/job-7'), '{}', { mode: 0o666 })
  fs.writeFileSync(at('/elsewhere'), '', { mode: 0o604 })
  fs.symlinkSync(at('/elsewhere'), at('/var/lib/ganeti/queue/job-8'))
  fs.linkSync(at('/elsewhere'), at('/var/lib/ganeti/queue/job-9'))
  claimAll(at)
  owned(at('/var/lib/ganeti/queue/job-7'), 'gnt-masterd', 'gnt-daemons', '640', '600')
  expect(mode(at('/elsewhere'))).toBe('604')
  claim(at('/nowhere'))
})

test('a file that is put in the place of another between the look and the change stays as it is', () => {
  const file = at('/var/lib/ganeti/queue/serial')
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, '')
  fs.chmodSync(file, 0o666)
  fs.writeFileSync(at('/victim'), '', { mode: 0o604 })
  const swap = jest.fn(() => {
    fs.rmSync(file)
    fs.symlinkSync(at('/victim'), file)
  })
  mockAfterLook.action = swap
  claim(file)
  expect(swap).toHaveBeenCalled()
  expect(mode(at('/victim'))).toBe('604')
})

test('a socket gets its mode, too', async () => {
  const socket = at('/var/run/ganeti/socket/ganeti-master')
  fs.mkdirSync(path.dirname(socket), { recursive: true })
  const server = net.createServer().listen(socket)
  await once(server, 'listening')
  claim(socket)
  owned(socket, 'gnt-masterd', 'gnt-daemons', '660', '600')
  server.close()
})
