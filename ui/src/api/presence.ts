// Whether somebody is at the page. The server ends sessions that nobody uses, and what a page asks for by itself is no use of them: only the
// first request after a key, a click or a turn of the wheel is. Whoever does nothing that asks for something is told of soon.

/** As src/daemons/rapi/v3/sessions.ts has it. */
const UNATTENDED_HEADER = 'X-Unattended'
const TELL_AFTER_MS = 60_000
const GESTURES = ['pointerdown', 'keydown', 'wheel'] as const

export class Presence {
  /** Whoever opens a page is there. */
  private isUsed = true
  private timer: ReturnType<typeof setTimeout> | undefined

  /** `tell` asks the server for something. */
  constructor(private readonly tell: () => void) {}

  /** Somebody did something. */
  readonly use = (): void => {
    this.isUsed = true
    this.timer ??= setTimeout(() => {
      this.timer = undefined
      if (this.isUsed) this.tell()
    }, TELL_AFTER_MS)
  }

  /** Marks a request that goes out now. */
  mark(headers: Pick<Headers, 'set'>): void {
    if (!this.isUsed) headers.set(UNATTENDED_HEADER, '1')
    this.isUsed = false
  }

  watch(page: Pick<EventTarget, 'addEventListener'>): void {
    // What scripts of the page make up is no gesture.
    const hear = ({ isTrusted }: Event) => isTrusted && this.use()
    for (const gesture of GESTURES) page.addEventListener(gesture, hear, { capture: true, passive: true })
  }
}
