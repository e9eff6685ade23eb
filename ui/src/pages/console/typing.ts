// Text that is typed key by key into a VNC screen.
import { keysFor } from './screen-keys'

/** The pause between two pasted keys. Guests lose faster keys. */
const TYPED_EVERY_MS = 8

const pause = () => new Promise<void>((resolve) => void setTimeout(resolve, TYPED_EVERY_MS))

/** Types until the end of the text, or until it is stopped. */
export async function typeAll(
  text: string,
  press: (keys: ReturnType<typeof keysFor>) => void,
  stopped: AbortSignal,
  wait: () => Promise<void> = pause,
): Promise<void> {
  for (const character of text.replaceAll('\r\n', '\n')) {
    if (stopped.aborted) return
    press(keysFor(character))
    await wait()
  }
}
