// The mirrors of simulated nodes: each end keeps its volume, meets the other end where the network carries, and copies what that lacks.
// Which of two has the newer data is decided by the product's own code. Guests write all the time, and what was acknowledged is noted.
import type { World } from '../../src/daemons/sim/world'
import { type Notes, freshNotes, withNewGeneration, withoutBase } from '../../src/node/mirror/notes'
import { type Side, decide } from '../../src/node/mirror/verdict'
import type { InstanceDict } from '../../src/rpc/node/dicts'
import type { Simulator } from './simulator'

const BEAT_MS = 300

/** What a volume has on it. */
export interface Content {
  notes: Notes
  readonly writes: Set<number>
}

/** A mirrored disk on one of its two nodes. */
export interface End {
  readonly node: string
  readonly minor: number
  readonly disk: string
  content: Content | undefined
  /** Undefined while it has no network. */
  addresses: { readonly local: string; readonly remote: string } | undefined
  dual: boolean
  primary: boolean
  peer: End | undefined
  copying: 'source' | 'target' | undefined
  /** Since the other end was lost, something was written. */
  alone: boolean
  /** Why it does not look for the other end any more. */
  refused: string
}

export class SimMirrors {
  readonly ends = new Map<string, End>()
  private readonly contents = new Map<string, Content>()
  /** The disks of each instance that was started or assembled. */
  private readonly guests = new Map<string, Set<string>>()
  private readonly acknowledged = new Map<string, Set<number>>()
  private count = 0

  constructor(
    private readonly simulator: Simulator,
    private readonly world: World,
    private readonly reaches: (one: string, other: string) => boolean,
  ) {
    this.beat()
  }

  makeVolume(node: string, place: string): void {
    this.contents.set(`${node} ${place}`, { notes: freshNotes(0), writes: new Set() })
  }

  renameVolume(node: string, from: string, to: string): void {
    const content = this.content(node, from)
    this.contents.delete(`${node} ${from}`)
    if (content !== undefined) this.contents.set(`${node} ${to}`, content)
  }

  removeVolume(node: string, place: string): void {
    const content = this.content(node, place)
    if ([...this.ends.values()].some((end) => end.content === content)) throw new Error(`${place} is in use`)
    this.contents.delete(`${node} ${place}`)
  }

  content = (node: string, place: string): Content | undefined => this.contents.get(`${node} ${place}`)

  /** Writes of guests that they were told to be safe. */
  promised = (disk: string): ReadonlySet<number> => this.acknowledged.get(disk) ?? new Set()

  stateOf(node: string, disk: string): string {
    const end = [...this.ends.values()].find((one) => one.node === node && one.disk === disk)
    if (end === undefined) return 'not there'
    const { content, peer, copying, refused } = end
    if (refused !== '') return `apart: ${refused}`
    if (peer === undefined) return 'without its other end'
    if (copying !== undefined) return 'being copied'
    return content?.notes.consistent === true && peer.content?.notes.consistent === true ? 'whole' : 'not whole'
  }

  /** The guest writes to these disks where it runs. */
  use({ name, disks_info }: InstanceDict): void {
    const known = this.guests.get(name) ?? new Set()
    this.guests.set(name, known)
    for (const { uuid } of disks_info) known.add(uuid)
  }

  begin(node: string, minor: number, disk: string): End {
    const end: End = {
      ...{ node, minor, disk, content: undefined, addresses: undefined, dual: false, primary: false, peer: undefined },
      ...{ copying: undefined, alone: false, refused: '' },
    }
    this.ends.set(`${node} ${minor}`, end)
    this.world.node(node).minors.add(minor)
    return end
  }

  connect(end: End, addresses: NonNullable<End['addresses']>, dual: boolean): void {
    if (end.addresses !== undefined) throw new Error('it has its network already')
    Object.assign(end, { addresses, dual, refused: '' })
    this.simulator.after(this.simulator.between(1, 60), undefined, () => this.meet())
  }

  disconnect(end: End): void {
    this.part(end)
    end.addresses = undefined
  }

  /** A node that writes keeps writing to the other's volume, which has the newest data from then on. */
  detach(end: End): void {
    const hasPeer = end.peer?.content?.notes.consistent === true
    if (end.primary && !hasPeer) throw new Error('no other node has the data')
    if (end.copying !== undefined) this.endCopying(end)
    end.content = undefined
  }

  promote(end: End, isForced: boolean): void {
    const { content, peer } = end
    if (end.primary) return
    if (peer?.primary === true && !(end.dual && peer.dual)) throw new Error('the other node has it open for writing')
    const isReadable = (content ?? peer?.content)?.notes.consistent === true
    if (!isReadable && !(isForced && content !== undefined)) throw new Error('this node does not have all data')
    end.primary = true
    if (isReadable || content === undefined) return
    const current = this.simulator.random.uuid()
    content.notes = { ...content.notes, consistent: true, current, base: '', history: [] }
    if (peer !== undefined) this.greet(end, peer)
  }

  demote(end: End): void {
    for (const name of this.world.node(end.node).instances.keys())
      if (end.primary && this.guests.get(name)?.has(end.disk) === true)
        throw new Error(`${name} has it open, it is in use`)
    end.primary = false
  }

  down(end: End): void {
    this.demote(end)
    this.disconnect(end)
    this.forget(end)
  }

  /** The node lost its power. */
  crash(node: string): void {
    for (const end of [...this.ends.values()].filter((one) => one.node === node)) {
      if (end.primary && end.content !== undefined) end.content.notes = { ...end.content.notes, crashed: true }
      this.part(end)
      this.forget(end)
    }
  }

  private forget(end: End): void {
    this.ends.delete(`${end.node} ${end.minor}`)
    this.world.node(end.node).minors.delete(end.minor)
  }

  private beat(): void {
    this.simulator.after(BEAT_MS, undefined, () => {
      for (const end of this.ends.values())
        if (end.peer !== undefined && !this.reaches(end.node, end.peer.node)) this.part(end)
      this.meet()
      for (const end of this.ends.values()) if (end.primary && this.isOpen(end)) this.write(end)
      this.beat()
    })
  }

  private isOpen({ node, disk }: End): boolean {
    return [...this.world.node(node).instances.keys()].some((name) => this.guests.get(name)?.has(disk))
  }

  private write(end: End): void {
    const { content, peer } = end
    const other = peer?.content
    const write = ++this.count
    if (content?.notes.consistent === true) {
      content.writes.add(write)
      if (other !== undefined) other.writes.add(write)
      else this.noteAlone(end, content)
    } else {
      if (other?.notes.consistent !== true) return
      other.writes.add(write)
      // The volume that was let go is older from now on.
      if (content === undefined) this.noteAlone(end, other)
    }
    const promised = this.acknowledged.get(end.disk) ?? new Set()
    this.acknowledged.set(end.disk, promised.add(write))
  }

  private noteAlone(end: End, content: Content): void {
    if (end.alone) return
    end.alone = true
    content.notes = withNewGeneration(content.notes, this.simulator.random.uuid())
  }

  private meet(): void {
    for (const end of this.ends.values()) {
      const { addresses } = end
      if (addresses === undefined || end.peer !== undefined || end.refused !== '') continue
      const other = [...this.ends.values()].find(
        (one) => one.addresses?.local === addresses.remote && one.addresses.remote === addresses.local,
      )
      if (other === undefined || other.peer !== undefined || other.refused !== '') continue
      if (this.reaches(end.node, other.node)) this.greet(end, other)
    }
  }

  private greet(one: End, other: End): void {
    const [mine, theirs] = [one.content, other.content]
    if (mine === undefined || theirs === undefined) {
      if (one.primary && other.primary && !(one.dual && other.dual)) return this.refuse(one, other, 'both write')
      return this.link(one, other)
    }
    const verdict = decide(sideOf(one, mine.notes), sideOf(other, theirs.notes))
    if (verdict.kind === 'refused') return this.refuse(one, other, verdict.why)
    this.link(one, other)
    this.note(one, other, `meet with ${one.disk}: ${verdict.kind}`)
    if (verdict.kind === 'same') {
      if (mine.notes.current !== '') for (const content of [mine, theirs]) content.notes = withoutBase(content.notes)
      return
    }
    const [source, target] = verdict.kind === 'source' ? [one, other] : [other, one]
    this.copy(source, target, verdict.all)
  }

  private copy(source: End, target: End, all: boolean): void {
    const { simulator } = this
    const [from, to] = [source.content, target.content]
    if (from === undefined || to === undefined) return
    source.copying = 'source'
    target.copying = 'target'
    to.notes = { ...to.notes, consistent: false }
    simulator.after(all ? simulator.between(500, 12_000) : simulator.between(50, 1000), undefined, () => {
      if (source.copying !== 'source' || source.peer !== target || target.content !== to || source.content !== from)
        return
      to.writes.clear()
      for (const write of from.writes) to.writes.add(write)
      from.notes = withoutBase(from.notes)
      to.notes = { ...from.notes, primary: to.notes.primary }
      this.endCopying(source)
    })
  }

  private link(one: End, other: End): void {
    Object.assign(one, { peer: other, alone: false })
    Object.assign(other, { peer: one, alone: false })
  }

  private refuse(one: End, other: End, why: string): void {
    this.note(one, other, `stay apart with ${one.disk}: ${why}`)
    for (const end of [one, other]) {
      this.part(end)
      Object.assign(end, { addresses: undefined, refused: why })
    }
  }

  private part(end: End): void {
    const { peer } = end
    if (peer === undefined) return
    this.note(end, peer, `are parted with ${end.disk}, ${this.promised(end.disk).size} writes`)
    this.endCopying(end)
    for (const one of [end, peer]) Object.assign(one, { peer: undefined, alone: false })
  }

  private note(one: End, other: End, text: string): void {
    this.simulator.note('mirrors', `${one.node} and ${other.node} ${text}`)
  }

  private endCopying(end: End): void {
    for (const one of [end, end.peer]) if (one !== undefined) one.copying = undefined
  }
}

const sideOf = ({ primary, dual, node }: End, notes: Notes): Side => ({ ...notes, primary, dual, address: node })
