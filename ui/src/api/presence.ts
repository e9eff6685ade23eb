// Detects whether somebody uses the page. The server ends unused sessions. Only the first request after a key, a click or a turn of the mouse
// wheel counts as use; requests that the page sends automatically do not. If a user is active without causing a request, one is sent soon.

/** The same name as in src/daemons/rapi/v3/sessions.ts. */
const UNATTENDED_HEADER = 'X-Unattended'
const TELL_AFTER_MS = 60_000
const GESTURES = ['pointerdown', 'keydown', 'wheel'] as const

export class Presence {
  /** Opening a page counts as use. */
  private isUsed = true
  private timer: ReturnType<typeof setTimeout> | undefined

  /** `tell` sends a request to the server. */
  constructor(private readonly tell: () => void) {}

  /** Notes a gesture of the user. */
  readonly use = (): void => {
    this.isUsed = true
    this.timer ??= setTimeout(() => {
      this.timer = undefined
      if (this.isUsed) this.tell()
    }, TELL_AFTER_MS)
  }

  /** Marks the headers of a request that is sent now. */
  mark(headers: Pick<Headers, 'set'>): void {
    if (!this.isUsed) headers.set(UNATTENDED_HEADER, '1')
    this.isUsed = false
  }

  watch(page: Pick<EventTarget, 'addEventListener'>): void {
    // Events that scripts generate are not gestures.
    const hear = ({ isTrusted }: Event) => isTrusted && this.use()
    for (const gesture of GESTURES) page.addEventListener(gesture, hear, { capture: true, passive: true })
  }
}
