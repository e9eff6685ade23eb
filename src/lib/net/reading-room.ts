// The bytes that a process holds of messages which it is still reading, bounded for all together. Whoever sends the
// longest one loses it when there is no more room, so that short messages get through beside somebody who floods us.

/** The place of one message. */
export interface Place {
  grow(bytes: number): void
  /** Gives the room back. */
  leave(): void
}

interface Held {
  bytes: number
  readonly giveUp: () => void
}

export class ReadingRoom {
  private readonly held = new Set<Held>()
  private bytes = 0

  constructor(readonly limit: number) {}

  /** `giveUp` is called when the message has to make room; it has left then. */
  enter(giveUp: () => void): Place {
    const message: Held = { bytes: 0, giveUp }
    this.held.add(message)
    return {
      grow: (bytes) => {
        if (!this.held.has(message)) return
        message.bytes += bytes
        this.bytes += bytes
        while (this.bytes > this.limit) this.evict()
      },
      leave: () => this.remove(message),
    }
  }

  private evict(): void {
    const [longest] = [...this.held].sort((a, b) => b.bytes - a.bytes)
    if (longest === undefined) return
    this.remove(longest)
    longest.giveUp()
  }

  private remove(message: Held): void {
    if (this.held.delete(message)) this.bytes -= message.bytes
  }
}
