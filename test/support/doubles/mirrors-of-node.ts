// The process with the mirrored disks of a test's node, within the test's own, and the other sides of these disks.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { systemFiles as files } from '../../../src/lib/files'
import { silentLog as log } from '../../../src/lib/log'
import type { Processes } from '../../../src/lib/programs/processes'
import { systemRandom as random } from '../../../src/lib/random'
import { mirrorAddress, mirrorList, mirrorsSocket, stopMirrors } from '../../../src/node/mirror/client'
import { MirroredDisk } from '../../../src/node/mirror/mirror'
import { writeFreshNotes } from '../../../src/node/mirror/notes'
import { type MirrorStatus, type Mirrors, serveMirrors } from '../../../src/node/mirror/server'
import { endOf } from '../../../src/node/storage/drbd/commands'
import type { DiskDict } from '../../../src/rpc/node/dicts'
import { eventually } from '../hypervisor'
import { fallocate, sooner as clock } from '../mirror-sides'
import type { TestNode } from '../node-context'

const [ROOM, META] = [64 << 20, 1 << 20]

export class MirrorsOfNode {
  private node: TestNode | undefined
  private serving: Promise<Mirrors> | undefined
  private readonly others = new Map<number, MirroredDisk>()
  /** For the node's context, too: the program to start. */
  readonly mirrorProgram = ['mirrors'] as const
  private readonly parts = { files, run: fallocate, clock, random, log }

  /** For the node's context: it serves when `start` resolves, so that a node whose clock does not wait finds it. */
  readonly processes = {
    start: async () => {
      await this.begin()
      return { pid: process.pid, feed: () => undefined }
    },
  } as unknown as Processes

  /** Its disks are those of this node. */
  of(node: TestNode): void {
    this.node = node
    for (const folder of [mirrorAddress(node.context, ''), path.dirname(node.paths.logFile('mirrors'))])
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  }

  /** Removes the other copy, as the master does with the disk. */
  async forget(disk: DiskDict): Promise<void> {
    const { minor = -1 } = endOf(disk) ?? {}
    await this.others.get(minor)?.down()
    this.others.delete(minor)
  }

  /** Another node gets the other copy of the disk. Resolves when both have all data. */
  async mirror(disk: DiskDict): Promise<void> {
    const { context } = this.made
    const { minor, addresses, secret } = endOf(disk) ?? {}
    if (minor === undefined || addresses === undefined) throw new Error('the disk has no other node')
    const file = (what: string) => path.join(context.paths.root, `other-${minor}.${what}`)
    const backing = { data: file('data'), meta: file('meta') }
    for (const [place, size] of [
      [backing.data, ROOM],
      [backing.meta, META],
    ] as const) {
      fs.writeFileSync(place, '')
      fs.truncateSync(place, size)
    }
    await writeFreshNotes(files, backing.meta)
    const other = new MirroredDisk(this.parts, file('sock'))
    this.others.set(minor, other)
    await other.attach(backing, disk.size << 20)
    const [local, remote] = [addresses.remote, addresses.local].map((address) => mirrorAddress(context, address))
    await other.connect({ local: local ?? '', remote: remote ?? '', secret: secret ?? '', dual: false, rate_kib: 0 })
    // The two do not learn it at the same moment.
    await eventually(() => hasAllData(other.status) || undefined)
    await eventually(async () => hasAllData((await mirrorList(context)).get(minor)) || undefined)
  }

  async end(): Promise<void> {
    for (const other of this.others.values()) await other.down()
    this.others.clear()
    if (this.serving !== undefined) await stopMirrors({ ...this.made.context, clock })
    await (await this.serving)?.close()
    this.serving = undefined
  }

  private begin(): Promise<Mirrors> {
    const { paths } = this.made
    const socket = mirrorsSocket({ paths })
    fs.mkdirSync(path.dirname(socket), { recursive: true })
    this.serving ??= serveMirrors({
      ...this.parts,
      ...{ socket, folder: path.join(paths.runDir, 'mirrors'), end: () => undefined },
    })
    return this.serving
  }

  private get made(): TestNode {
    if (this.node === undefined) throw new Error('it has no node')
    return this.node
  }
}

const hasAllData = (status: MirrorStatus | undefined): boolean =>
  status?.connection === 'Connected' && status.disk === 'UpToDate' && status.peerDisk === 'UpToDate'
