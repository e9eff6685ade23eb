// Notices at once that a guest has ended: its user has shut it down, or its QEMU is gone. It listens to the dedicated monitor of each QEMU
// on this node. A machine whose user may do the former stays, halted, until its end was noted, so nothing is missed while nobody listens.
import * as path from 'node:path'
import type { Clock } from '../../../lib/clock'
import { DirectoryNews } from '../../../lib/file/directory-news'
import { accessible } from '../../../lib/files'
import { errorText } from '../../../lib/system-failure'
import { GUESTS_LOOK_S, GUESTS_SETTLE_S } from '../../../model/limits/hypervisor'
import { HypervisorFailure, type HypervisorContext } from '../hypervisor'
import { RUNTIME } from './layout'
import { KvmMachines } from './machines'
import { Qmp } from './qmp'

export class GuestWatch {
  private readonly machines: KvmMachines
  private readonly clock: Clock
  /** Watched guests, by name; undefined while the monitor does not answer yet. */
  private readonly heard = new Map<string, Qmp | undefined>()
  private news: readonly DirectoryNews[] = []
  private closed = false

  constructor(private readonly context: HypervisorContext) {
    this.machines = new KvmMachines(context)
    this.clock = context.clock
  }

  async start(): Promise<void> {
    const { layout } = this.machines
    await layout.createDirectories()
    // A guest that is migrated to this node gets its monitor first, and the file about it when it is here.
    this.news = [[layout.controlDir(), '.kvmd'] as const, [layout.runtimeDir(), RUNTIME] as const].map(
      ([directory, ending]) => this.newsOf(directory, ending),
    )
    await this.look()
  }

  private newsOf(directory: string, ending: string): DirectoryNews {
    return new DirectoryNews({
      ...{ files: this.context.files, clock: this.clock, directory },
      ...{ settle_s: GUESTS_SETTLE_S, look_s: GUESTS_LOOK_S },
      concerns: (name) => name.endsWith(ending),
      look: () => void this.look().catch((error: unknown) => this.warn('the guests cannot be looked at', error)),
    })
  }

  close(): void {
    this.closed = true
    for (const one of this.news) one.close()
    for (const qmp of this.heard.values()) qmp?.close()
  }

  /** Begins to listen to new guests. */
  private async look(): Promise<void> {
    const { files } = this.context
    const { layout } = this.machines
    for (const file of await files.readdir(layout.runtimeDir())) {
      const name = path.basename(file, RUNTIME)
      if (this.closed || file.startsWith('.') || !file.endsWith(RUNTIME) || this.heard.has(name)) continue
      if (await accessible(files, layout.socket(name, 'kvmd'))) void this.listen(name)
    }
  }

  private async listen(name: string): Promise<void> {
    this.heard.set(name, undefined)
    try {
      const qmp = await Qmp.connect(this.machines.layout.socket(name, 'kvmd'), this.clock)
      this.heard.set(name, qmp)
      if (this.closed) qmp.close()
      await this.hear(name, qmp)
    } catch (error) {
      // It has ended, or is just starting: then a later check finds it again.
      if (!(error instanceof HypervisorFailure)) this.warn(`the end of instance ${name} may be missed`, error)
    } finally {
      this.heard.get(name)?.close()
      this.heard.delete(name)
    }
  }

  /** Listens until the machine is gone. */
  private async hear(name: string, qmp: Qmp): Promise<void> {
    let requested = false
    const noteEnd = () => this.noteEnd(name, qmp).catch((error: unknown) => this.warn(`instance ${name}`, error))
    qmp.listen(({ event, data }) => {
      // An administrator pressed the button, and will check for the end.
      if (event === 'POWERDOWN') requested = true
      if (event === 'SHUTDOWN' && data['guest'] === true && !requested) void noteEnd()
    })
    // It may have ended before we listened.
    await noteEnd()
    await qmp.ended
    await this.tellEnd(name)
  }

  private async noteEnd(name: string, qmp: Qmp): Promise<void> {
    if ((await qmp.status()) !== 'shutdown') return
    const process = await this.machines.find(name)
    if (process === undefined) return
    await this.machines.noteUserShutdown(process, qmp)
    this.context.log.info({ instance: name }, 'its user has shut it down')
  }

  /** Who waits for ends of guests on this node then looks at once (guest-ends.ts). */
  private async tellEnd(name: string): Promise<void> {
    const now = new Date(this.clock.now_ms())
    // A QEMU that ends by itself has removed it, which is news too.
    await this.context.files.utimes(this.machines.layout.socket(name, 'kvmd'), now, now).catch(() => undefined)
  }

  private warn(text: string, error: unknown): void {
    if (!this.closed && !(error instanceof HypervisorFailure)) this.context.log.warn({ reason: errorText(error) }, text)
  }
}
