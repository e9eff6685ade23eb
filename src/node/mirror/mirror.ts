// For trials without DRBD, on one machine. One mirrored disk on its node: a copy of the data, a connection to the node with the other copy,
// and the right to write.
//
// Nothing that was confirmed may be lost, whatever dies, and between whichever two steps. These rules keep that:
// - A write is confirmed when both copies have it. If only one copy gets it, then that copy's notes first say so, on the disk: it has a
//   generation that the other copy does not have, and marks at the blocks (`lacks.ts`). It does not matter on which node that copy is: a
//   node without a copy writes through the other node, which notes it for its own copy.
// - A copy that is let go is noted to be incomplete, once the other node knows that it is the only one. So it is not used again before
//   the other node has brought it up to date.
// - A node that already writes has the other node's data. A copy that it gets then is overwritten as a whole, whatever its notes say.
// - A node notes that it writes before it does. If it dies, all blocks are copied, since nobody knows which writes were under way.
// - A flush is confirmed when both copies have flushed. If the other node is lost or cannot flush, the blocks that were written since the
//   last flush are noted as lacking there, before the two meet again, and before this node gives up writing. If that cannot be noted, it is
//   as if the node had died.
// - A copy whose file fails is not used any more if the other node has all data. Its notes then trust nothing in it. If no other node has
//   all data, the guest is told of the failure, and a later flush fails, too.
// - A mark stays on the disk until the other side has noted that it has all data. Copying that was interrupted begins again.
// - While a node's copy is being made, its own writes are confirmed when the other node has them. They come with the copied blocks. The node
//   makes them itself only in blocks that it has already, whose marks stay. So copying ends, however much is written.
// - When copying ends, both have on their disks what they have. A node whose data does not get there gives its copy up.
import { errorText } from '../../lib/system-failure'
import { GenericError } from '../../model/errors'
import { type Link, LinkLost, type Request } from './link'
import { type Backing, LocalCopy } from './local'
import type { Lending } from './handshake'
import { type NbdServer, serveNbd } from './nbd'
import { NOT_ALL_DATA, type Notes, withNewGeneration, withoutGeneration } from './notes'
import { Serving } from './serving'

export class MirroredDisk extends Serving {
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
    // The other node may have confirmed a flush after it had lost this one. Then some of that is only in this node's memory.
    if (copy !== undefined && this.peerState !== 'UpToDate') await copy.flush()
    await link?.ask({ verb: 'role', primary: true }).catch(unlessLost)
    if (isForced) await copy.note({ consistent: true, current: this.parts.random.uuid(), base: '', history: [] })
    await copy?.note({ primary: true })
    this.primary = true
    this.server = await serveNbd(this.parts.files, this.parts.log, this.socket, this.served)
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
      const isSettled = await this.isSettled()
      this.primary = false
      // Otherwise it is as if the node had died: all blocks are copied.
      await this.copy?.note((notes) => ({ ...notes, primary: false, crashed: notes.crashed || !isSettled }))
      this.lacks.forget()
    })
    await this.link?.ask({ verb: 'role', primary: false }).catch(() => undefined)
  }

  /** Nothing is under way when the connection is closed, and nothing has to be copied later because of that. */
  async disconnect(): Promise<void> {
    await this.ranges.alone(async () => {
      if (this.primary) await this.isSettled()
      this.standAlone('')
    })
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
    try {
      await this.ranges.alone(async () => {
        if (how === 'to write') {
          await copy.markAll()
          await copy.note((notes) => withNewGeneration(notes, this.parts.random.uuid()))
        }
        this.lent = how
      })
    } catch (error) {
      // Copying has ended for it. It begins again when the two meet again.
      this.link?.close()
      throw error
    }
    return copy.files.data
  }

  /**
   * Resolves when the other node has all data, or is lost. If copying is paused, it resolves at once, and the other node gets the data
   * later.
   */
  async giveBack(): Promise<void> {
    const how = this.lent
    const failure = how === 'to write' && this.copy ? await failureOf(this.copy.flush()) : undefined
    this.lent = undefined
    if (how === 'to write' && this.link?.isOpen === true) {
      await this.greet(this.link).catch(() => undefined)
      await this.copiedOrPaused()
    }
    if (failure !== undefined) throw failure
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
    const { copy } = this
    if (copy?.notes.consistent === true) {
      const read = await copy.read(offset, length).catch((error: unknown) => error)
      if (read instanceof Buffer) return read
      if (this.copy === copy) throw read
    }
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
        // This copy is still being made, if there is one. The other node copies this write to it, too, or says that it is to be made here.
        const { keep } = await receiver.ask(request, body)
        this.lacks.written(offset, end)
        if (keep && copy && (await failureOf(local(copy))) !== undefined) await this.giveUpCopy(copy, receiver)
        return
      }
      if (receiver === undefined) {
        await this.lacks.note(copy, offset, end)
        return local(copy)
      }
      const [here, there] = await Promise.all([failureOf(local(copy)), failureOf(receiver.ask(request, body))])
      if (here === undefined && there === undefined) return this.lacks.written(offset, end)
      if (here !== undefined && there === undefined && (await this.goesOnWithout(copy, receiver))) {
        // Once more, since the other node does not know yet that it alone has it.
        await receiver.ask(request, body)
        return
      }
      // The two differ now. They meet again, and the other node gets what this one has.
      receiver.close()
      await this.lacks.note(copy, offset, end)
      if (here !== undefined) throw here
    })
  }

  private flush = (): Promise<void> => this.ranges.beside(() => this.flushBoth())

  /** Rejects unless each copy with all data has it on its disk, or is noted to be older. */
  private async flushBoth(): Promise<void> {
    const { copy, receiver } = this
    const there = async () => (receiver === undefined ? undefined : await failureOf(receiver.ask({ verb: 'flush' })))
    if (copy?.notes.consistent !== true) {
      if (receiver === undefined || this.peer?.consistent !== true) throw new LinkLost('no node has the data')
      return this.lacks.flushed(async () => orThrow(await there()))
    }
    const failed: { here?: Error | undefined; there?: Error | undefined } = {}
    await this.lacks.flushed(async () => {
      ;[failed.here, failed.there] = await Promise.all([failureOf(copy.flush()), there()])
      return receiver !== undefined && failed.here === undefined && failed.there === undefined
    })
    if (receiver !== undefined && failed.there !== undefined) {
      receiver.close()
      await this.lacks.note(copy)
    }
    if (failed.here === undefined) return
    const isSafe = receiver !== undefined && failed.there === undefined && (await this.goesOnWithout(copy, receiver))
    if (!isSafe) throw failed.here
  }

  /** Whether this node has let its failed copy go, since the other node has all data, and knows that it is alone. */
  private async goesOnWithout(copy: LocalCopy, link: Link): Promise<boolean> {
    if (this.copy !== copy) return true
    if (this.state !== 'Connected' || this.peerState !== 'UpToDate' || this.link !== link) return false
    if ((await failureOf(link.ask({ verb: 'detached' }))) !== undefined) return false
    await this.drop(copy)
    return true
  }

  /** Whether all that was written is safe from a power failure, or noted as not safe on the other node. */
  private async isSettled(): Promise<boolean> {
    try {
      await this.flushBoth()
      await this.noteUnsure()
      return true
    } catch (error) {
      this.parts.log.warn({ socket: this.socket, error: errorText(error) }, 'a mirrored disk cannot be flushed')
      return false
    }
  }
}

const failureOf = (work: Promise<unknown>): Promise<Error | undefined> =>
  work.then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  )

/** True, for a flush that has succeeded. */
function orThrow(failure: Error | undefined): true {
  if (failure !== undefined) throw failure
  return true
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
