// What one side of a mirrored disk does for the other: it writes and reads for it, and hears what becomes of its copy.
import { GenericError } from '../../model/errors'
import type { Answer, Link, Request } from './link'
import { CopyFailed, type LocalCopy } from './local'
import { Handshake } from './handshake'
import { NOT_ALL_DATA } from './notes'

export abstract class Serving extends Handshake {
  protected async serve(link: Link, request: Request, body: Buffer): Promise<Answer> {
    if (request.verb === 'ping') return {}
    if (link !== this.link) throw new GenericError('not connected any more')
    if (request.verb === 'ready') {
      // Its greeting may take long, and nobody else can connect until then.
      if (request.pings === true) link.ping()
      await this.othersEnd()
      return {}
    }
    if (request.verb === 'hello')
      return this.ranges.alone(async () => {
        await this.beforeMeeting()
        // A node that has hung finds greetings of connections that were given up long ago.
        if (this.ends === undefined || !link.isOpen) return { last: true }
        const mine = this.hello(this.ends)
        const stays = await this.meet(link, mine, request.hello)
        return { hello: mine, last: !stays }
      })
    if (request.verb === 'role') return this.noteRole(request.primary)
    if (request.verb === 'pause') this.setPaused('there', request.paused)
    else if (request.verb === 'progress') this.progress = request.progress
    else if (request.verb === 'start') {
      // One that failed may be long ago.
      await this.meeting.catch(() => undefined)
      if (this.state !== 'SyncTarget') throw new GenericError('the other node does not expect a copy of the data')
    } else if (request.verb === 'detached') await this.ranges.alone(async () => this.noteDetached())
    else {
      // How a write is served depends on whether the other node has a copy.
      await this.judging
      const { copy } = this
      if (copy === undefined) throw new GenericError('the other node has no data')
      try {
        return await this.serveData(link, copy, request, body)
      } catch (error) {
        if (!(error instanceof CopyFailed) || this.peerState !== 'UpToDate') throw error
        const isBeingMade = this.state === 'SyncTarget' && (request.verb === 'write' || request.verb === 'zero')
        if (isBeingMade) await this.giveUpCopy(copy, link)
        else await this.drop(copy)
        // The other node, which has all data, notes what this one lacks when it hears of the failure.
        if (!isBeingMade) throw error
      }
    }
    return {}
  }

  protected async serveData(link: Link, copy: LocalCopy, request: Request, body: Buffer): Promise<Answer> {
    if (request.verb === 'write') {
      const { offset } = request
      return this.changeForOther(copy, offset, body.length, () => copy.write(offset, body))
    }
    if (request.verb === 'left') return { left: copy.marks.count }
    else if (request.verb === 'zero') {
      const { offset, length } = request
      return this.changeForOther(copy, offset, length, () => copy.writeZeros(offset, length))
    } else if (request.verb === 'read') {
      requireWhole(copy)
      return { body: await copy.read(request.offset, request.length) }
    } else if (request.verb === 'flush') await copy.flush()
    else if (request.verb === 'resize') await copy.resize(request.size_bytes)
    else if (request.verb === 'synced') {
      return this.ranges.alone(async () => this.noteSynced(link, copy, request.current, request.history))
    }
    return {}
  }

  protected async changeForOther(
    copy: LocalCopy,
    offset: number,
    length: number,
    change: () => Promise<void>,
  ): Promise<Answer> {
    const end = offset + length
    if (this.peer?.attached !== true) return this.during(this.changeAlone(copy, offset, end, change))
    if (this.state !== 'SyncSource') return this.during(change())
    return this.ranges.within(offset, end, async () => {
      const keep = await this.markForOther(copy, offset, end)
      await change()
      return { keep }
    })
  }

  /**
   * The other node is being synchronized. It makes a change itself where it has the block already, so that a guest that writes much does not
   * keep the copying from coming to an end. Where it does not, the change comes with the block.
   */
  private async markForOther(copy: LocalCopy, start: number, end: number): Promise<boolean> {
    if (this.peer?.keeps === true) return copy.marks.pass(start, end)
    await copy.marks.add(start, end)
    return false
  }

  /** The other node has no copy. One that it gets back counts as older, since this one is noted to be newer first. */
  private async changeAlone(copy: LocalCopy, start: number, end: number, change: () => Promise<void>): Promise<void> {
    requireWhole(copy)
    await this.lacks.note(copy, start, end)
    await change()
  }

  private async during(change: Promise<void>): Promise<Answer> {
    this.foreign.add(change)
    await change.finally(() => this.foreign.delete(change))
    return {}
  }

  /** Nothing is being written on this node now. What it wrote before, the other node may still have to copy. */
  protected async noteSynced(
    link: Link,
    copy: LocalCopy,
    current: string,
    history: readonly string[],
  ): Promise<Answer> {
    const { left = 0 } = this.primary ? await link.ask({ verb: 'left' }) : {}
    if (left > 0) return { left }
    await copy.flush()
    await copy.note({ current, history, base: '', consistent: true, crashed: false })
    await copy.marks.clear()
    this.lacks.begin()
    this.state = 'Connected'
    return {}
  }

  protected noteRole(primary: boolean): Answer {
    if (primary && this.primary && this.ends?.dual !== true)
      throw new GenericError('the other node has it open for writing, and must close it first')
    if (this.peer !== undefined) this.peer = { ...this.peer, primary }
    return {}
  }

  protected noteDetached(): Promise<void> {
    if (this.peer !== undefined) this.peer = { ...this.peer, attached: false }
    this.lacks.begin()
    this.copying = undefined
    if (this.isCopying) this.state = 'Connected'
    return Promise.resolve()
  }
}

function requireWhole(copy: LocalCopy): void {
  if (!copy.notes.consistent) throw new GenericError(NOT_ALL_DATA)
}
