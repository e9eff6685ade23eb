// A viewer's part of a serial line.
import type { ConsoleLine } from './console-line'
import type { SerialLines, SerialViewer } from './serial-lines'

interface Wanted {
  readonly socket: string
  readonly instance: string
  /** How much of the output was shown before; undefined begins with new output. */
  readonly seen: number | undefined
  readonly read_only: boolean
}

export async function openSerial(
  lines: SerialLines,
  { socket, instance, seen: observed, read_only }: Wanted,
  viewer: SerialViewer & { begun(): void },
): Promise<ConsoleLine> {
  // The line may show kept output at once, which must not come before the message that there is a line.
  let begun = false
  const show = (said: Buffer): boolean => {
    if (!begun) viewer.begun()
    begun = true
    return viewer.show(said)
  }
  const joined = await lines.join(instance, socket, { show, onRoom: (callback) => viewer.onRoom(callback) }, observed)
  if (!begun) viewer.begun()
  begun = true
  return {
    type: (keys) => (read_only ? Promise.resolve() : joined.type(keys)),
    ended: joined.ended,
    close: () => joined.leave(),
    seen: () => joined.seen(),
  }
}
