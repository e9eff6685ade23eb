// A small real Ceph: one monitor and one daemon of objects, which keeps them in a file. Everybody needs a key, as in real clusters; disks
// belong to a user who may use images and nothing else.
import type { ChildProcess } from 'node:child_process'
import * as fs from 'node:fs'
import { qemuPresent, testWith } from '../support/needs'
import { type Sandbox, until } from './sandbox'

const FSID = 'd8162025-8962-4b37-b4ca-bb14665761fe'
const OSD = '4c41d2f4-6a3a-4f6e-9a3b-0d9f8f0b9a11'
const MONITOR = '127.0.0.1:6789'

const FILES = ['/usr/bin/ceph-mon', '/usr/bin/ceph-osd', '/usr/bin/rbd', '/usr/lib/x86_64-linux-gnu/qemu/block-rbd.so']

/** As whom nodes and their guests ask. */
export const CEPH_USER = 'vms'

export const cephPresent = process.getuid?.() === 0 && qemuPresent && FILES.every((file) => fs.existsSync(file))
export const cephTest = testWith(
  cephPresent,
  'qemu-system-x86 qemu-block-extra ceph-mon ceph-osd ceph-common (as root)',
)

export class Ceph {
  private monitor: ChildProcess | undefined
  private objects: ChildProcess | undefined

  constructor(private readonly sandbox: Sandbox) {}

  async start(): Promise<void> {
    const { sandbox } = this
    const file = (name: string) => sandbox.file(name)
    for (const name of ['mon', 'osd']) fs.mkdirSync(file(name))
    fs.writeFileSync(file('ceph.conf'), settings(file))
    await sandbox.order('cp', file('ceph.conf'), '/etc/ceph/ceph.conf')
    await this.makeKeys()
    await sandbox.order('monmaptool', '--create', '--add', 'a', MONITOR, '--fsid', FSID, file('monmap'))
    await sandbox.order('ceph-mon', '--mkfs', '-i', 'a', '--monmap', file('monmap'), '--keyring', file('keys'))
    await this.startMonitor()
    await this.tell('osd', 'new', OSD)
    await this.key('osd.0', file('osd/keyring'), ['mon', 'allow profile osd', 'osd', 'allow *'])
    await sandbox.order('ceph-osd', '-i', '0', '--mkfs', '--osd-uuid', OSD)
    await this.tell('osd', 'crush', 'add', 'osd.0', '1.0', 'root=default')
    this.startObjects()
    await this.tell('osd', 'pool', 'create', 'rbd', '8')
    await this.key(`client.${CEPH_USER}`, keyringOf(CEPH_USER), ['mon', 'profile rbd', 'osd', 'profile rbd'])
    const answers = async () => (await sandbox.run(['rbd', 'ls', '--id', CEPH_USER], 60)).code === 0
    await until('Ceph serves a pool', 120, answers)
  }

  /** Those of the monitor and of the administrator, which the monitor begins with. */
  private async makeKeys(): Promise<void> {
    const { sandbox } = this
    const [keys, admin] = [sandbox.file('keys'), keyringOf('admin')]
    const all = ['mon', 'osd'].flatMap((service) => ['--cap', service, 'allow *'])
    await sandbox.order('ceph-authtool', '--create-keyring', admin, '--gen-key', '-n', 'client.admin', ...all)
    await sandbox.order('ceph-authtool', '--create-keyring', keys, '--gen-key', '-n', 'mon.', '--cap', 'mon', 'allow *')
    await sandbox.order('ceph-authtool', keys, '--import-keyring', admin)
  }

  private key = (name: string, file: string, rights: readonly string[]): Promise<void> =>
    this.tell('auth', 'get-or-create', name, ...rights, '-o', file)

  /** The monitor refuses even to tell its commands for a moment, while it begins or a daemon joins; each order can be given again. */
  private async tell(...words: string[]): Promise<void> {
    await until(`ceph ${words.join(' ')}`, 60, async () => {
      const { code, output } = await this.sandbox.run(['ceph', ...words])
      if (code === 0 || output.includes('problem getting command descriptions')) return code === 0
      throw new Error(`ceph ${words.join(' ')} ended with ${code}: ${output}`)
    })
  }

  async startMonitor(): Promise<void> {
    this.monitor = this.sandbox.daemon('ceph-mon', '-i', 'a', '-f')
    await until('the monitor answers', 60, async () => {
      return (await this.sandbox.run(['ceph', '--connect-timeout', '5', 'mon', 'stat'], 30)).code === 0
    })
  }

  async endMonitor(): Promise<void> {
    if (this.monitor !== undefined) await this.sandbox.end(this.monitor)
  }

  startObjects(): void {
    this.objects = this.sandbox.daemon('ceph-osd', '-i', '0', '-f')
  }

  async endObjects(): Promise<void> {
    if (this.objects !== undefined) await this.sandbox.end(this.objects)
  }

  /** Does something while the users' keyring is another one, or is not there. */
  async withKeyring(text: string | undefined, work: () => Promise<void>): Promise<void> {
    const { sandbox } = this
    const [file, kept] = [keyringOf(CEPH_USER), sandbox.file('kept')]
    await sandbox.order('mv', file, kept)
    if (text !== undefined) {
      fs.writeFileSync(sandbox.file('other'), text)
      await sandbox.order('cp', sandbox.file('other'), file)
    }
    await work()
    await sandbox.order('mv', kept, file)
  }

  rbd(...words: string[]): Promise<string> {
    return this.sandbox.order('rbd', ...words)
  }

  async images(): Promise<string[]> {
    return (await this.rbd('ls')).split('\n').filter((name) => name !== '')
  }
}

const keyringOf = (user: string): string => `/etc/ceph/ceph.client.${user}.keyring`

/** A client that has died is forgotten after some seconds, where real clusters take half a minute. */
const settings = (file: (name: string) => string): string => `[global]
fsid = ${FSID}
mon host = ${MONITOR}
mon initial members = a
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
auth allow insecure global id reclaim = false
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd pool default pgp num = 8
mon allow pool size one = true
osd crush chooseleaf type = 0
osd crush update on start = false
run dir = ${file('')}
admin socket =
log file = ${file('ceph.log')}
mon data = ${file('mon')}
osd data = ${file('osd')}
osd objectstore = bluestore
bluestore block size = 1073741824
bluestore block create = true
osd memory target = 939524096
osd client watch timeout = 5
ms bind ipv6 = false
public addr = 127.0.0.1
cluster addr = 127.0.0.1
setuser match path =
`
