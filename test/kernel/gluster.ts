// A small real Gluster: two servers with an address of their own each, and a volume that both keep.
import * as fs from 'node:fs'
import * as path from 'node:path'
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

  /** The disks that each server has, by their names. */
  private disks(): Record<string, Buffer>[] {
    return [this.first, this.second].map((sandbox) => {
      const directory = sandbox.file('brick/ganeti')
      const names = fs.existsSync(directory) ? fs.readdirSync(directory) : []
      return Object.fromEntries(names.map((name) => [name, fs.readFileSync(path.join(directory, name))]))
    })
  }

  /** Both servers have so many disks, with the same data. */
  haveBoth(count: number): boolean {
    const [one = {}, other = {}] = this.disks()
    const isOnBoth = ([name, data]: [string, Buffer]) => other[name]?.equals(data) === true
    const sizes = [one, other].map((disks) => Object.keys(disks).length)
    return sizes.every((size) => size === count) && Object.entries(one).every(isOnBoth)
  }

  /** One of the two servers loses its power. */
  loseOne(): void {
    this.second.endAll()
  }

  /** It is back, and gets what it lacks from the other. */
  async returnOne(count: number): Promise<void> {
    begin(this.second)
    await until('both servers have the same', 120, () => Promise.resolve(this.haveBoth(count)))
  }

  /** A server that has just come back may delete a moment later than the other. */
  hasNone(): Promise<void> {
    return until('no server has a disk', 120, () => Promise.resolve(this.haveBoth(0)))
  }

  async remove(): Promise<void> {
    await this.second.remove()
  }
}

const begin = (server: Sandbox) => server.daemon('glusterd', '-N', '--log-level', 'WARNING')
