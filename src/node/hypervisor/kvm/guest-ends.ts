// The guests of this node that have ended without a request: their users have shut them down (kvmd's marks), or their QEMU
// is gone. And the wait for a change.
import { DirectoryNews } from '../../../lib/file/directory-news'
import { accessible } from '../../../lib/files'
import { GUEST_ENDS_LOOK_S } from '../../../model/limits/live-data'
import type { HypervisorContext } from '../hypervisor'
import { KvmLayout, RUNTIME, SHUTDOWN } from './layout'

interface Waiting extends Pick<HypervisorContext, 'paths' | 'files' | 'processes' | 'clock'> {
  readonly caller?: AbortSignal
}

/** kvmd touches this socket when its QEMU is gone. Without kvmd, the next periodic check finds it. */
const TOUCHED = '.kvmd'

/** Their names, in order. Waits (at most this long) until they differ from those that the caller knows. */
export async function guestEnds(context: Waiting, wait_s: number, known: readonly string[]): Promise<string[]> {
  const { clock, caller, files } = context
  const layout = new KvmLayout(context)
  await layout.createDirectories()
  const ended = async () => {
    const marks = await namesIn(context, layout.controlDir(), SHUTDOWN)
    const gone: string[] = []
    for (const name of await namesIn(context, layout.runtimeDir(), RUNTIME))
      if (!(await isThere(context, layout.pidFile(name)))) gone.push(name)
    return [...new Set([...marks, ...gone])].sort()
  }
  let news: DirectoryNews | undefined
  let timer: ReturnType<typeof clock.after> | undefined
  const changed = new Promise<void>((resolve) => {
    const concerns = (name: string) => name.endsWith(SHUTDOWN) || name.endsWith(TOUCHED)
    const look = () =>
      void ended().then((names) => {
        if (names.join() !== known.join()) resolve()
      }, resolve)
    const look_s = Math.min(wait_s, GUEST_ENDS_LOOK_S)
    news = new DirectoryNews({ files, directory: layout.controlDir(), clock, settle_s: 0, look_s, concerns, look })
    look()
    if (caller?.aborted === true) resolve()
    caller?.addEventListener('abort', () => resolve(), { once: true })
    timer = clock.after(wait_s * 1000, resolve, { background: true })
  })
  await changed
  news?.close()
  timer?.cancel()
  return ended()
}

async function namesIn({ files }: Waiting, directory: string, ending: string): Promise<string[]> {
  const all = await files.readdir(directory)
  return all.flatMap((one) => (one.endsWith(ending) && !one.startsWith('.') ? [one.slice(0, -ending.length)] : []))
}

/**
 * Whether the process of a PID file lives. Another process may have got its number: this is only news, and who hears it
 * looks exactly.
 */
async function isThere({ files }: Waiting, pidFile: string): Promise<boolean> {
  const pid = Number(await files.readFile(pidFile, 'utf8').catch(() => ''))
  return pid > 0 && (await accessible(files, `/proc/${pid}`))
}
