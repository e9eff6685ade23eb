// This node's daemons where Gantry's package is installed, but no systemd runs the machine: daemon-util starts and stops
// them, as in Ganeti.
import { EXIT } from '../model/constants/daemons'
import { PATH } from '../model/constants/paths'
import { UNITS_S } from '../model/limits/daemons'
import { NodeDaemons, type NodeDaemonsOptions, NotElected } from './node-daemons'
import { systemUnits } from './system-units'

/** Undefined if only `gantryd node` can start this node's daemons: it is a virtual one, or has no package. */
export async function nodeDaemons(options: NodeDaemonsOptions): Promise<NodeDaemons | undefined> {
  const units = await systemUnits(options)
  if (units !== undefined) return units
  const isPlain = options.paths.root === '' && options.files.existsSync(PATH.DAEMON_UTIL)
  return isPlain ? new PlainDaemons(options) : undefined
}

export class PlainDaemons extends NodeDaemons {
  async startAll(): Promise<void> {
    await this.order('start-all')
  }

  async stopAll(): Promise<void> {
    await this.order('stop-all')
  }

  /** daemon-util outlives noded, which it stops last. */
  async stopAllLater(): Promise<void> {
    await this.order('stop-all')
  }

  async restartAll(): Promise<void> {
    await this.stopAll()
    await this.startAll()
  }

  async stopMaster(): Promise<void> {
    await this.order('stop-master')
  }

  async start(program: string, once: readonly string[] = []): Promise<void> {
    await this.order('start', program, ...once)
  }

  async stop(program: string): Promise<void> {
    await this.order('stop', program)
  }

  async isActive(program: string): Promise<boolean> {
    return (await this.daemonUtil(['check', program])).code === 0
  }

  private async order(...words: readonly string[]): Promise<void> {
    const { code, output } = await this.daemonUtil(words)
    const [, program] = words
    if (code === EXIT.notMaster && program !== undefined) throw new NotElected(program)
    if (code !== 0) throw new Error(`daemon-util ${words.join(' ')} ended with ${code ?? 'a signal'}: ${output.trim()}`)
  }

  private daemonUtil(words: readonly string[]) {
    return this.options.run([PATH.DAEMON_UTIL, ...words], { timeout_s: UNITS_S })
  }
}
