// How the two sides of a mirrored disk stay equal. They connect and compare their notes. The side with the newer data copies to the other
// one the blocks that it lacks. The states have DRBD's names.
import type { Clock } from '../../lib/clock'
import { within } from '../../lib/clock'
import type { Files } from '../../lib/files'
import type { Log } from '../../lib/log'
import type { Random } from '../../lib/random'
import type { Run } from '../../lib/programs/run-command'
import { errorText } from '../../lib/system-failure'
import { GenericError } from '../../model/errors'
import { MIRROR_ANSWER_S } from '../../model/limits/mirror'
import { type Answer, EMPTY, type Hello, Link, NO_ANSWER, type Progress, type Request } from './link'
import { DirtyBlocks } from './dirty-blocks'
import type { LocalCopy } from './local'
import { withoutBase } from './notes'
import { Ranges } from './ranges'
import { type Copying, copyMarked } from './sync'
import { decideResync } from './resync-decision'
import { Wire } from './wire'

export interface Ends {
  /** The sockets' files, in a folder that the nodes share. */
  readonly local: string
  readonly remote: string
  readonly secret: string
  readonly dual: boolean
  /** KiB in a second. 0 means no limit. */
  readonly rate_kib: number
}

export type ConnectionState =
  'StandAlone' | 'WFConnection' | 'WFReportParams' | 'Connected' | 'SyncSource' | 'SyncTarget'
/** What a program may do with the file that holds the data. */
export type Lending = 'to read' | 'to write'
export type DiskState = 'DUnknown' | 'Diskless' | 'Inconsistent' | 'UpToDate'

export interface MirrorParts {
  readonly files: Files
  readonly run: Run
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

export abstract class Handshake {
  protected copy: LocalCopy | undefined
  protected ends: Ends | undefined
  protected wire: Wire | undefined
  protected link: Link | undefined
  /** The last greeting of the other node. */
  protected peer: Hello | undefined
  protected state: ConnectionState = 'StandAlone'
  protected why = ''
  protected primary = false
  protected lent: Lending | undefined
  protected readonly paused = { here: false, there: false }
  /** Wakes the one caller of `copiedOrPaused`, the lender of the file, when copying is paused. */
  private tellPaused: () => void = () => undefined
  protected readonly ranges = new Ranges()
  /** Changes that this node is making for the other node. A change may outlive the connection that asked for it. */
  protected readonly foreign = new Set<Promise<void>>()
  protected readonly lacks: DirtyBlocks
  /** While this node works out what the other node's greeting means. */
  protected judging: Promise<void> | undefined
  protected meeting: Promise<void> = Promise.resolve()
  protected copying: Promise<void> | undefined
  protected progress: Progress | undefined

  constructor(
    protected readonly parts: MirrorParts,
    /** The socket that serves the disk while this node may write to it. */
    protected readonly socket: string,
  ) {
    this.lacks = new DirtyBlocks(parts.random)
  }

  async connect(ends: Ends): Promise<void> {
    if (this.wire !== undefined) throw new GenericError(`it is ${this.state} already`)
    this.ends = ends
    this.why = ''
    this.state = 'WFConnection'
    this.wire = new Wire(this.parts, ends, (socket, isDialer) => {
      const link: Link = new Link(socket, (request, body) => this.serve(link, request, body), this.parts.clock)
      this.link = link
      this.state = 'WFReportParams'
      link.whenLost(() => this.lose(link))
      // On a failure, `greet` has already closed the link.
      if (isDialer) this.greet(link).catch(() => undefined)
      else link.awaitRequest()
      return link
    })
    await this.wire.open()
  }

  /** The other node, if it gets each write that is made here. */
  protected get receiver(): Link | undefined {
    const takes =
      (this.state === 'Connected' || this.isCopying) && this.peer?.attached === true && this.lent !== 'to write'
    return takes && this.link?.isOpen === true ? this.link : undefined
  }

  protected get diskState(): DiskState {
    if (this.copy === undefined) return 'Diskless'
    return this.copy.notes.consistent ? 'UpToDate' : 'Inconsistent'
  }

  protected get peerState(): DiskState {
    if (this.peer === undefined || this.link === undefined) return 'DUnknown'
    if (!this.peer.attached) return 'Diskless'
    return this.state === 'SyncSource' || !this.peer.consistent ? 'Inconsistent' : 'UpToDate'
  }

  protected get isCopying(): boolean {
    return this.state === 'SyncSource' || this.state === 'SyncTarget'
  }

  protected get isPaused(): boolean {
    return this.paused.here || this.paused.there
  }

  protected setPaused(side: 'here' | 'there', paused: boolean): void {
    this.paused[side] = paused
    if (paused) this.tellPaused()
  }

  /** Waiting is useless while copying is paused. */
  protected async copiedOrPaused(): Promise<void> {
    if (this.isPaused) return
    await Promise.race([this.copying, new Promise<void>((resolve) => (this.tellPaused = resolve))])
  }

  protected hello({ secret, dual, local }: Ends): Hello {
    const notes = this.copy?.notes
    const { current = '', base = '', history = [], consistent = false, crashed = false, size_bytes = 0 } = notes ?? {}
    const address = local
    return {
      ...{ current, base, history, consistent, crashed, size_bytes, secret, dual, address },
      ...{ primary: this.primary, attached: this.copy !== undefined, keeps: true, pings: true },
    }
  }

  /** Compares the notes of both sides. Nothing is written meanwhile, so the other node must be ready to answer. */
  protected async greet(link: Link): Promise<void> {
    const ready = link.ask({ verb: 'ready', pings: true }).catch(() => EMPTY)
    if ((await within(this.parts.clock, MIRROR_ANSWER_S, ready)) === undefined) link.giveUp(NO_ANSWER)
    this.meeting = this.ranges.alone(async () => {
      let judged: () => void = () => undefined
      const received = () => void (this.judging = new Promise((resolve) => (judged = resolve)))
      try {
        await this.beforeMeeting()
        if (this.ends === undefined) return
        const mine = this.hello(this.ends)
        const requested = link.ask({ verb: 'hello', hello: mine }, EMPTY, received)
        const { hello } = (await within(this.parts.clock, MIRROR_ANSWER_S, requested)) ?? {}
        if (hello === undefined || !(await this.meet(link, mine, hello))) link.close()
      } catch (error) {
        link.close()
        throw error
      } finally {
        judged()
      }
    })
    await this.meeting
  }

  /** Returns whether the two sides stay connected. */
  protected async meet(link: Link, mine: Hello, theirs: Hello): Promise<boolean> {
    const { copy } = this
    if (mine.secret !== theirs.secret) return this.waitFor('the other node has another disk at this address')
    if (mine.attached && theirs.attached && mine.size_bytes < theirs.size_bytes) await copy?.resize(theirs.size_bytes)
    if (!link.isOpen) return false
    if (theirs.pings === true) link.ping()
    const verdict = decideResync(mine, theirs)
    if (mine.attached && theirs.attached && verdict.kind === 'refused') return this.refuse(verdict.why)
    if (mine.primary && theirs.primary && !(mine.dual && theirs.dual)) return this.refuse('both nodes write to it')
    this.peer = theirs
    this.why = ''
    this.lacks.begin()
    this.progress = undefined
    this.copying = undefined
    this.state = 'Connected'
    if (copy === undefined || !theirs.attached || verdict.kind === 'refused') return true
    if (verdict.kind === 'same') {
      if (mine.base !== '' && mine.consistent) await this.settle(copy)
      return true
    }
    if (verdict.kind === 'target') {
      // Before it is written down: the connection may be lost meanwhile.
      this.state = 'SyncTarget'
      await copy.note({ consistent: false })
      return true
    }
    this.state = 'SyncSource'
    if (verdict.all) await copy.markAll()
    copy.marks.again()
    this.startCopying(link, copy)
    return true
  }

  protected startCopying(link: Link, copy: LocalCopy): void {
    const isCurrent = () => this.copying === work && link.isOpen
    const isPaused = () => this.isPaused
    const { clock } = this.parts
    const tell = (progress: Progress) => (this.progress = progress)
    const input = {
      clock,
      link,
      copy,
      ranges: this.ranges,
      rate_kib: this.ends?.rate_kib ?? 0,
      isCurrent,
      isPaused,
      tell,
    }
    const work: Promise<void> = this.copyAll(input).catch((error: unknown) => {
      this.parts.log.warn(
        { socket: this.socket, error: errorText(error) },
        'the copying of a mirrored disk has stopped',
      )
      link.close()
    })
    this.copying = work
  }

  /** What the other node writes during the copying must also be copied to it, so there may be more to do at the end. */
  protected async copyAll(input: Copying): Promise<void> {
    const finish = () => this.finishCopying(input)
    await input.link.ask({ verb: 'start' })
    for (let isDone = false; !isDone;)
      isDone = !(await copyMarked(input)) || (this.primary ? await this.ranges.alone(finish) : await finish())
  }

  /**
   * Returns false if there is more to copy. First the other node notes that its copy is complete; until then it counts as outdated. Only
   * then this node forgets what the other one lacked. What it has itself is on its disk by then: nobody copies it back after a power failure.
   */
  protected async finishCopying({ link, copy, isCurrent }: Copying): Promise<boolean> {
    if (!isCurrent()) return true
    if (copy.marks.count > 0) return false
    const isFlushed = await copy.flush().then(
      () => true,
      () => false,
    )
    await copy.secure()
    const { current, history } = withoutBase(copy.notes)
    const { left = 0 } = await link.ask({ verb: 'synced', current, history })
    if (left > 0) return false
    if (isFlushed) await this.settle(copy)
    if (this.peer !== undefined) this.peer = { ...this.peer, consistent: true, current }
    this.state = 'Connected'
    if (!isFlushed) await this.giveUpCopy(copy, link)
    return true
  }

  /** This node's copy has failed while copying was under way. A guest goes on with the other node's data, so the two stay connected. */
  protected async giveUpCopy(copy: LocalCopy, link: Link): Promise<void> {
    if (this.copy !== copy) return
    await this.drop(copy)
    if (this.link !== link) return
    this.state = 'Connected'
    // The answer waits for the copying, and that may wait for the caller.
    link.ask({ verb: 'detached' }).catch(() => link.close())
  }

  /** This node's file has failed, and the other node has all data. So this node goes on without a copy. */
  protected async drop(copy: LocalCopy): Promise<void> {
    if (this.copy !== copy) return
    this.copy = undefined
    this.parts.log.error({ file: copy.files.data }, 'the copy of a mirrored disk fails, and is not used any more')
    await copy.distrust().catch(() => undefined)
    // Whoever still uses the file is told that it fails.
    void copy.close().catch(() => undefined)
  }

  protected async settle(copy: LocalCopy): Promise<void> {
    await copy.note(withoutBase)
    await copy.marks.clear()
  }

  /** Does what the other node asks. */
  protected abstract serve(link: Link, request: Request, body: Buffer): Promise<Answer>

  /** Waits for the other node's changes, and brings the notes to the disk: the greeting tells only what a crash does not take back. */
  protected async beforeMeeting(): Promise<void> {
    await this.othersEnd()
    await this.noteUnsure()
    await this.copy?.secure()
  }

  /** The other node was lost, or could not flush. Notes what is perhaps not on its disk. */
  protected async noteUnsure(): Promise<void> {
    const { copy } = this
    if (this.lacks.isUnsure && copy?.notes.consistent === true) await this.lacks.note(copy)
  }

  /** Waits for the other node's changes before the two meet again, and before this node writes: a late change would undo newer data. */
  protected othersEnd = async (): Promise<void> => void (await Promise.allSettled(this.foreign))

  /** That other disk may be the leftover of a removed one, which ends when this disk is made there. */
  private waitFor(why: string): false {
    if (this.why !== why) this.parts.log.warn({ socket: this.socket, why }, 'a mirrored disk waits for its other copy')
    this.why = why
    return false
  }

  private noteHanging(why: string): void {
    if (why === '' || why === this.why) return
    this.parts.log.warn({ socket: this.socket, why }, 'a mirrored disk goes on without its other copy')
    this.why = why
  }

  protected refuse(why: string): false {
    this.parts.log.error({ socket: this.socket, why }, 'the two copies of a mirrored disk stay apart')
    this.standAlone(why)
    return false
  }

  protected standAlone(why: string): void {
    const { wire, link } = this
    this.why = why
    this.wire = undefined
    this.state = 'StandAlone'
    wire?.close()
    // After a refusal, the caller of `meet` closes the connection, once the answer is sent.
    if (why === '') link?.close()
  }

  protected lose(link: Link): void {
    if (this.link !== link) return
    this.link = undefined
    this.peer = undefined
    this.copying = undefined
    this.paused.there = false
    if (this.wire === undefined) return
    this.noteHanging(link.whyGivenUp)
    this.state = 'WFConnection'
    this.wire.again()
  }
}
