// One mirrored disk on its node: a copy of the data, a connection to the node with the other copy, and the right to write. A write is
// confirmed when it is on both copies. If the other node is gone, it is confirmed when the notes say which blocks the other copy lacks.
import { GenericError } from '../../model/errors'
import { LinkLost, type Request } from './link'
import { type Backing, LocalCopy } from './local'
import { type Lending, Meeting } from './meeting'
import { type NbdServer, serveNbd } from './nbd'
import { NOT_ALL_DATA, withNewGeneration } from './notes'

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
    this.copy = await LocalCopy.open(this.parts, backing, size_bytes)
    if (this.primary) await this.copy.note({ primary: true })
    if (this.link?.isOpen) await this.greet(this.link)
  }

  /** If this node is writing to the disk, the disk goes on with the data of the other node. */
  async detach(): Promise<void> {
    await this.ranges.alone(async () => {
      if (this.primary && this.peerState !== 'UpToDate') throw new GenericError('the other node does not have all data')
      this.copying = undefined
      if (this.link?.isOpen) await this.link.ask({ verb: 'detached' })
      if (this.isCopying) this.state = 'Connected'
      await this.copy?.close()
      this.copy = undefined
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

  private readonly served = {
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
      if (this.lent) throw new GenericError('a program has borrowed the file with the data')
      const { copy, receiver } = this
      if (copy?.notes.consistent !== true) {
        if (receiver === undefined) throw new LinkLost('no node has the data')
        // This copy is still being made. The other node copies this write to it too.
        await receiver.ask(request, body)
        return
      }
      if (receiver === undefined) {
        await this.noteAlone(copy, offset, end)
        return local(copy)
      }
      const there = receiver.ask(request, body).then(
        () => true,
        () => false,
      )
      await local(copy)
      if (await there) return
      receiver.close()
      await this.noteAlone(copy, offset, end)
    })
  }

  private async flush(): Promise<void> {
    const { receiver } = this
    await Promise.all([this.copy?.flush(), receiver?.ask({ verb: 'flush' }).catch(() => receiver.close())])
  }

  /**
   * Runs before a write that the other node does not get is confirmed. Notes the blocks that the other node lacks, and begins a new
   * generation, so that the other node's data counts as older.
   */
  private async noteAlone(copy: LocalCopy, start: number, end: number): Promise<void> {
    await copy.marks.add(start, end)
    this.generation ??= copy.note((notes) => withNewGeneration(notes, this.parts.random.uuid()))
    await this.generation
  }
}

/** A missing node cannot object. */
function unlessLost(error: unknown): void {
  if (!(error instanceof LinkLost)) throw error
}
