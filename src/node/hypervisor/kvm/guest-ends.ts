// The guests of this node that their users have shut down, from kvmd's marks; and the wait for a change.
import { DirectoryNews } from '../../../lib/file/directory-news'
import type { HypervisorContext } from '../hypervisor'
import { KvmLayout, SHUTDOWN } from './layout'

interface Waiting extends Pick<HypervisorContext, 'paths' | 'files' | 'processes' | 'clock'> {
  readonly caller?: AbortSignal
}

/** Their names, in order. Waits (at most this long) until they differ from those that the caller knows. */
export async function guestEnds(context: Waiting, wait_s: number, known: readonly string[]): Promise<string[]> {
  const { clock, caller, files } = context
  const layout = new KvmLayout(context)
  await layout.createDirectories()
  const ended = async () => {
    const marks = (await files.readdir(layout.controlDir())).filter((entry) => entry.endsWith(SHUTDOWN))
    return marks.map((entry) => entry.slice(0, -SHUTDOWN.length)).sort()
  }
  let news: DirectoryNews | undefined
  const changed = new Promise<void>((resolve) => {
    const concerns = (name: string) => name.endsWith(SHUTDOWN)
    const look = () =>
      void ended().then((names) => {
        if (names.join() !== known.join()) resolve()
      }, resolve)
    news = new DirectoryNews({
      ...{ files, directory: layout.controlDir(), clock, settle_s: 0, look_s: wait_s, concerns, look },
    })
    look()
    if (caller?.aborted === true) resolve()
    caller?.addEventListener('abort', () => resolve(), { once: true })
    clock.after(wait_s * 1000, resolve, { background: true })
  })
  await changed
  news?.close()
  return ended()
}
