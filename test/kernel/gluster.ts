// A small real Gluster: two servers with an address of their own each, and a volume that both keep.
import * as fs from 'node:fs'
import { qemuPresent, testWith } from '../support/needs'
import { Sandbox, until } from './sandbox'

const FILES = ['/usr/sbin/glusterd', '/usr/sbin/gluster', '/usr/sbin/mount.glusterfs', '/usr/lib/x86_64-linux-gnu/qemu/block-gluster.so'] // prettier-ignore
export const glusterPresent = process.getuid?.() === 0 && qemuPresent && FILES.every((file) => fs.existsSync(file))
export const glusterTest = testWith(
  glusterPresent,
  'qemu-system-x86 qemu-block-extra glusterfs-server glusterfs-client (as root)',
)

const DIRECTORIES = ['/run', '/var/lib/glusterd', '/var/log/glusterfs']
export const [FIRST, SECOND] = ['198.51.100.1', '198.51.100.2']

export class Gluster {
  readonly first = new Sandbox(DIRECTORIES)
  private readonly second = new Sandbox(DIRECTORIES)

  async start(): Promise<void> {
    const { first, second } = this
    // Both ends are made where they are to be: nothing of them is ever in this machine's own network.
    const there = ['type', 'veth', 'peer', 'name', 'glus', 'netns', String(second.pid)]
    await first.order('ip', 'link', 'add', 'glus', ...there)
    for (const [sandbox, address] of [
      [first, FIRST],
      [second, SECOND],
    ] as const) {
      // prettier-ignore
      await sandbox.order('ip', 'addr', 'add', `${address}/24`, 'dev', 'glus')
      await sandbox.order('ip', 'link', 'set', 'glus', 'up')
      await sandbox.order('mkdir', '-p', '/run/gluster')
      begin(sandbox)
    }
    for (const sandbox of [first, second])
      await until('glusterd answers', 60, async () => (await sandbox.run(['gluster', 'pool', 'list'])).code === 0)
    await first.order('gluster', 'peer', 'probe', SECOND)
    const connected = async () =>
      /Connected[\s\S]*Connected/.test((await first.run(['gluster', 'pool', 'list'])).output)
    await until('the servers know each other', 60, connected)
    const bricks = [`${FIRST}:${first.file('brick')}`, `${SECOND}:${second.file('brick')}`]
    await first.order('gluster', '--mode=script', 'volume', 'create', 'gv0', 'replica', '2', ...bricks, 'force')
    await first.order('gluster', '--mode=script', 'volume', 'start', 'gv0')
  }

  /** What each server has of each disk. */
  disks(): Buffer[] {
    return [this.first, this.second].flatMap((sandbox) => {
      const directory = sandbox.file('brick/ganeti')
      return fs.existsSync(directory) ? fs.readdirSync(directory).map((name) => fs.readFileSync(`${directory}/${name}`)) : [] // prettier-ignore
    })
  }

  /** One of the two servers loses its power. */
  loseOne(): void {
    this.second.endAll()
  }

  /** It is back, and gets what it lacks from the other. */
  async returnOne(): Promise<void> {
    begin(this.second)
    await until('both servers have the same', 120, () => {
      const [one, other, ...more] = this.disks()
      return Promise.resolve(one !== undefined && other?.equals(one) === true && more.length === 0)
    })
  }

  /** A server that has just come back may delete a moment later than the other. */
  hasNone(): Promise<void> {
    return until('no server has a disk', 120, () => Promise.resolve(this.disks().length === 0))
  }

  async remove(): Promise<void> {
    await this.second.remove()
  }
}

const begin = (server: Sandbox) => server.daemon('glusterd', '-N', '--log-level', 'WARNING')
