// The ticks for everything on the page that tells how long ago something was. One timer serves all, and only while something is shown.
const TICK_MS = 30_000

const watchers = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined
let last_ms = 0

function tick(): void {
  last_ms = Date.now()
  for (const watcher of watchers) watcher()
}

export const ticker = {
  /** The time of the last tick; 0 if there was none. */
  last: (): number => last_ms,
  subscribe(this: void, watcher: () => void) {
    watchers.add(watcher)
    timer ??= setInterval(tick, TICK_MS)
    return () => {
      watchers.delete(watcher)
      if (watchers.size > 0) return
      clearInterval(timer)
      timer = undefined
    }
  },
}
