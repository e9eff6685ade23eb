// One mirrored disk on its node: a copy of the data, a connection to the node with the other copy, and the right to write.
//
// Nothing that was confirmed may be lost, whatever dies, and between whichever two steps. These rules keep that:
// - A write is confirmed when both copies have it. If only one copy gets it, then that copy's notes first say so, on the disk: it has a
//   generation that the other copy does not have, and marks at the blocks (`lacks.ts`). It does not matter on which node that copy is: a
//   node without a copy writes through the other node, which notes it for its own copy.
// - A copy that is let go is noted to be incomplete, once the other node knows that it is the only one. So it is not used again before
//   the other node has brought it up to date.
// - A node that already writes has the other node's data. A copy that it gets then is overwritten as a whole, whatever its notes say.
// - A node notes that it writes before it does. If it dies, all blocks are copied, since nobody knows which writes were under way.
import { GenericError } from '../../model/errors'
import { LinkLost, type Request } from './link'
import { type Backing, LocalCopy } from './local'
import { type Lending, Meeting } from './meeting'
import { type NbdServer, serveNbd } from './nbd'
import { NOT_ALL_DATA, type Notes, withNewGeneration, withoutGeneration } from './notes'

export class MirroredDisk extends Meeting {
  private server: NbdServer | undefined

  get status() {
    const { copy, ends, peer, progress, isPaused } = this
    const connection =
      isPaused && this.state === 'SyncSource'
        ? 'PausedSyncS'
        : isPaused && this.state === 'SyncTarget'
          ? 'PausedSyncT'
          : this.state
    return {
      connection,
      role: this.primary ? 'Primary' : 'Secondary',
      disk: this.diskState,
      peerDisk: this.peerState,
      ...(peer && { peerPrimary: peer.primary }),
      ...(this.isCopying && progress),
      ...(copy && { ...copy.files, size_bytes: copy.notes.size_bytes }),
      ...(ends && this.state !== 'StandAlone' && { local: ends.local, remote: ends.remote }),
      ...(this.why !== '' && { why: this.why }),
      socket: this.socket,
    }
  }

  async attach(backing: Backing, size_bytes: number): Promise<void> {
    if (this.copy !== undefined) throw new GenericError(`it has its data on ${this.copy.files.data} already`)
    const copy = await LocalCopy.open(this.parts, backing, size_bytes)
    // The guest has read and written the other node's data. Whatever this copy holds, and whatever its notes say, it gets all of that.
    const outdated = (notes: Notes) => ({ ...withoutGeneration(notes), primary: true })
    if (this.primary) await orClose(copy, copy.note(outdated))
    this.copy = copy
    if (this.link?.isOpen) await this.greet(this.link)
  }

  /** If this node is writing to the disk, the disk goes on with the data of the other node. */
  async detach(): Promise<void> {
    await this.ranges.alone(async () => {
      const { copy, link } = this
      if (copy === undefined) return
      const isOtherWhole = this.peerState === 'UpToDate'
      if ((this.primary || this.peer?.primary === true) && !isOtherWhole)
        throw new GenericError('the other node does not have all data')
      this.copying = undefined
      if (link?.isOpen) await link.ask({ verb: 'detached' })
      if (this.isCopying) this.state = 'Connected'
      try {
        if (isOtherWhole) await copy.leave()
      } finally {
        this.copy = undefined
        await copy.close()
      }
    })
  }

  /** `force` treats the local data as complete. */
  async promote(force: boolean): Promise<void> {
    if (this.primary) return
    await this.othersEnd()
    const { copy, link } = this
    const isForced = force && copy !== undefined && !copy.notes.consistent && this.peerState !== 'UpToDate'
    const isReadable = copy === undefined ? this.peerState === 'UpToDate' : copy.notes.consistent
    if (!isReadable && !isForced) throw new GenericError(NOT_ALL_DATA)
    await link?.ask({ verb: 'role', primary: true }).catch(unlessLost)
    if (isForced) await copy.note({ consistent: true, current: this.parts.random.uuid(), base: '', history: [] })
    await copy?.note({ primary: true })
    this.primary = true
    this.server = await serveNbd(this.parts.files, this.socket, this.served)
    if (isForced && link?.isOpen) await this.greet(link)
  }

  async demote(): Promise<void> {
    if (!this.primary) return
    if (this.server !== undefined && this.server.clients > 0)
      throw new GenericError('a guest has it open, it is in use')
    if (this.lent) throw new GenericError('a program has it open, it is in use')
    await this.ranges.alone(async () => {
      await this.server?.close()
      this.server = undefined
      this.primary = false
      await this.copy?.note({ primary: false })
    })
    await this.link?.ask({ verb: 'role', primary: false }).catch(() => undefined)
  }

  async down(): Promise<void> {
    await this.demote()
    await this.disconnect()
    await this.copy?.close()
    this.copy = undefined
  }

  /** The other node goes first: if it fails, nothing has changed here. */
  async resize(size_bytes: number): Promise<void> {
    const { copy, link } = this
    if (copy === undefined) throw new GenericError('it has no data here')
    if (link?.isOpen !== true || this.state !== 'Connected' || this.peerState !== 'UpToDate')
      throw new GenericError('both nodes need all data before it can grow')
    await this.ranges.alone(async () => {
      await link.ask({ verb: 'resize', size_bytes })
      await copy.resize(size_bytes)
    })
  }

  async pause(paused: boolean): Promise<void> {
    this.setPaused('here', paused)
    if (this.link?.isOpen) await this.link.ask({ verb: 'pause', paused })
  }

  /** Lends the file with the data to a program that writes to files. The other node gets the changes when the file is given back. */
  async lend(how: Lending = 'to write'): Promise<string> {
    const { copy } = this
    if (!this.primary || copy?.notes.consistent !== true) throw new GenericError('this node may not write to it')
    if (this.lent || (this.server?.clients ?? 0) > 0) throw new GenericError('it is in use')
    if (how === 'to write') this.copying = undefined
    await this.ranges.alone(async () => {
      this.lent = how
      if (how === 'to read') return
      await copy.markAll()
      await copy.note((notes) => withNewGeneration(notes, this.parts.random.uuid()))
    })
    return copy.files.data
  }

  /**
   * Resolves when the other node has all data, or is lost. If copying is paused, it resolves at once, and the other node gets the data
   * later.
   */
  async giveBack(): Promise<void> {
    const how = this.lent
    if (how === 'to write') await this.copy?.flush()
    this.lent = undefined
    if (how !== 'to write' || this.link?.isOpen !== true) return
    await this.greet(this.link).catch(() => undefined)
    await this.copiedOrPaused()
  }

  /** What guests do. */
  readonly served = {
    size: () => this.copy?.notes.size_bytes ?? this.peer?.size_bytes ?? 0,
    read: (offset: number, length: number) => this.read(offset, length),
    write: (offset: number, bytes: Buffer) => this.write(offset, bytes),
    zero: (offset: number, length: number) => this.zero(offset, length),
    flush: () => this.flush(),
  }

  private async read(offset: number, length: number): Promise<Buffer> {
    if (this.copy?.notes.consistent === true) return this.copy.read(offset, length)
    if (this.link === undefined) throw new LinkLost('no node has the data')
    return (await this.link.ask({ verb: 'read', offset, length })).body ?? Buffer.alloc(0)
  }

  private write(offset: number, bytes: Buffer): Promise<void> {
    const change = (copy: LocalCopy) => copy.write(offset, bytes)
    return this.change(offset, offset + bytes.length, { verb: 'write', offset }, change, bytes)
  }

  private zero(offset: number, length: number): Promise<void> {
    const change = (copy: LocalCopy) => copy.writeZeros(offset, length)
    return this.change(offset, offset + length, { verb: 'zero', offset, length }, change)
  }

  /** Makes the same change on the other node and on the local copy. */
  private change(
    offset: number,
    end: number,
    request: Request,
    local: (copy: LocalCopy) => Promise<void>,
    body?: Buffer,
  ): Promise<void> {
    return this.ranges.within(offset, end, async () => {
      // A guest may have left with a long request under way. Later parts of it come too late.
      if (!this.primary) throw new GenericError('this node may not write to it')
      if (this.lent) throw new GenericError('a program has borrowed the file with the data')
      const { copy, receiver } = this
      if (copy?.notes.consistent !== true) {
        if (receiver === undefined || this.peer?.consistent !== true) throw new LinkLost('no node has the data')
        // This copy is still being made. The other node copies this write to it too.
        await receiver.ask(request, body)
        return
      }
      if (receiver === undefined) {
        await this.lacks.note(copy, offset, end)
        return local(copy)
      }
      const there = receiver.ask(request, body).then(
        () => true,
        () => false,
      )
      await local(copy)
      if (await there) return
      receiver.close()
      await this.lacks.note(copy, offset, end)
    })
  }

  private async flush(): Promise<void> {
    const { receiver } = this
    await Promise.all([this.copy?.flush(), receiver?.ask({ verb: 'flush' }).catch(() => receiver.close())])
  }
}

/** A missing node cannot object. */
function unlessLost(error: unknown): void {
  if (!(error instanceof LinkLost)) throw error
}

async function orClose(copy: LocalCopy, work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    await copy.close()
    throw error
  }
}
