// This node's daemons as systemd units, if systemd runs the machine and Gantry's package is installed. The parent of a
// node's daemons (daemons/supervisor/supervisor.ts) and systemd are two ways to run the same roles; this file detects which
// one is in use.
import { EXIT } from '../model/constants/daemons'
import { UNITS_S } from '../model/limits/daemons'
import type { Role } from '../roles/role'
import { NodeDaemons, type NodeDaemonsOptions, NotElected } from './node-daemons'

export const UNIT = { all: 'ganeti.target', node: 'ganeti-node.target', master: 'ganeti-master.target' } as const
/** Extra arguments, after those of /etc/default/ganeti, for the next start only. */
export const onceFile = (dataDir: string, program: string): string => `${dataDir}/${program}.onetime.conf`

const RUNNING_SYSTEMD = '/run/systemd/system'

/** Undefined if something else starts this node's daemons. */
export async function systemUnits(options: NodeDaemonsOptions): Promise<SystemUnits | undefined> {
  const { paths, files, run } = options
  // Virtual nodes have their own parent.
  if (paths.root !== '' || !files.existsSync(RUNNING_SYSTEMD)) return undefined
  const { stdout } = await run(['systemctl', 'show', '--property=LoadState', '--value', UNIT.all], {
    timeout_s: UNITS_S,
  })
  return stdout.trim() === 'loaded' ? new SystemUnits(options) : undefined
}

export class SystemUnits extends NodeDaemons {
  /**
   * Starts all that this node should have. Units for other nodes are skipped by their conditions, which may have
   * changed.
   */
  async startAll(): Promise<void> {
    const started = this.roles.filter(({ place }) => place !== 'demand').map(({ program }) => unitOf(program))
    await this.forget(started)
    await this.order('start', [UNIT.all, ...started])
  }

  async stopAll(): Promise<void> {
    await this.order('stop', [UNIT.all])
  }

  async stopAllLater(): Promise<void> {
    await this.order('stop', [UNIT.all], ['--no-block'])
  }

  async restartAll(): Promise<void> {
    await this.order('restart', this.unitsAt('node'))
    await this.startAll()
  }

  override async startMaster(noVoting: boolean): Promise<void> {
    await super.startMaster(noVoting)
    await this.order('start', [UNIT.master])
  }

  async stopMaster(): Promise<void> {
    await this.order('stop', [UNIT.master, ...this.unitsAt('master')])
  }

  async start(program: string, once: readonly string[] = []): Promise<void> {
    const { disk, paths } = this.options
    const file = onceFile(paths.dataDir, program)
    if (once.length > 0) await disk.write(file, `ONETIME_ARGS=${once.join(' ')}\n`, { mode: 0o644 })
    try {
      await this.forget([unitOf(program)])
      await this.order('start', [unitOf(program)])
    } catch (error) {
      const status = await this.property(program, 'ExecMainStatus')
      if (Number(status) !== EXIT.notMaster) throw error
      throw new NotElected(program)
    } finally {
      if (once.length > 0) await disk.remove(file)
    }
    if (await this.isActive(program)) return
    throw new Error(`${program} did not start: its unit is not for this node now; systemctl status ${program} says why`)
  }

  async stop(program: string): Promise<void> {
    await this.order('stop', [unitOf(program)])
  }

  async isActive(program: string): Promise<boolean> {
    return (await this.property(program, 'ActiveState')) === 'active'
  }

  private unitsAt(place: Role['place']): string[] {
    return this.at(place).map(({ program }) => unitOf(program))
  }

  private async property(program: string, name: string): Promise<string> {
    const { stdout } = await this.systemctl(['show', `--property=${name}`, '--value', unitOf(program)])
    return stdout.trim()
  }

  /** systemd would not start a unit that failed too often. */
  private async forget(units: readonly string[]): Promise<void> {
    await this.systemctl(['reset-failed', ...units])
  }

  private async order(verb: 'start' | 'stop' | 'restart', units: readonly string[], how: string[] = []): Promise<void> {
    const { code, output } = await this.systemctl([...how, verb, ...units])
    if (code !== 0)
      throw new Error(`systemctl ${verb} ${units.join(' ')} ended with ${code ?? 'a signal'}: ${output.trim()}`)
  }

  private systemctl(words: readonly string[]) {
    return this.options.run(['systemctl', '--no-ask-password', ...words], { timeout_s: UNITS_S })
  }
}

export const unitOf = (program: string): string => `${program}.service`
