// This node's daemons as systemd units, if systemd runs the machine and Gantry's package is installed. The parent of a
// node's daemons (daemons/node/supervisor.ts) and systemd are two ways to run the same roles; this file detects which
// one is in use.
import type { Disk } from '../lib/disk'
import type { Files } from '../lib/files'
import { forEachOne } from '../lib/work/for-each-one'
import type { Paths } from '../lib/paths'
import type { Run } from '../lib/programs/run-command'
import { EXIT } from '../model/constants/daemons'
import { UNITS_S } from '../model/limits/daemons'
import { inOrder, isDaemonOfNode, type Role } from '../roles/role'

export const UNIT = { all: 'ganeti.target', node: 'ganeti-node.target', master: 'ganeti-master.target' } as const
/** Extra arguments, after those of /etc/default/ganeti, for the next start only. */
export const onceFile = (dataDir: string, program: string): string => `${dataDir}/${program}.onetime.conf`

const RUNNING_SYSTEMD = '/run/systemd/system'
const NO_VOTING = ['--no-voting', '--yes-do-it']

export interface UnitsOptions {
  readonly paths: Paths
  readonly disk: Disk
  readonly files: Pick<Files, 'existsSync'>
  readonly run: Run
  readonly roles: readonly Role[]
}

/** The votes of the other nodes were lost. */
export class NotElected extends Error {}

/** Undefined if something else starts this node's daemons. */
export async function systemUnits(options: UnitsOptions): Promise<SystemUnits | undefined> {
  const { paths, files, run } = options
  // Virtual nodes have their own parent.
  if (paths.root !== '' || !files.existsSync(RUNNING_SYSTEMD)) return undefined
  const { stdout } = await run(['systemctl', 'show', '--property=LoadState', '--value', UNIT.all], {
    timeout_s: UNITS_S,
  })
  return stdout.trim() === 'loaded' ? new SystemUnits(options) : undefined
}

export class SystemUnits {
  private readonly roles: readonly Role[]

  constructor(private readonly options: UnitsOptions) {
    this.roles = inOrder(options.roles).filter(isDaemonOfNode)
  }

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

  /** For a caller that this stops too. */
  async stopAllLater(): Promise<void> {
    await this.order('stop', [UNIT.all], ['--no-block'])
  }

  async restartAll(): Promise<void> {
    await this.order('restart', this.unitsAt('node'))
    await this.startAll()
  }

  /**
   * Starts the master's daemons one after the other. Rejects with NotElected if the other nodes name another master.
   */
  async startMaster(noVoting: boolean): Promise<void> {
    for (const role of this.at('master')) await this.start(role.program, noVoting ? NO_VOTING : [])
    await this.order('start', [UNIT.master])
  }

  async stopMaster(): Promise<void> {
    await this.order('stop', [UNIT.master, ...this.unitsAt('master')])
  }

  /** Whether any of them runs. */
  async isMaster(): Promise<boolean> {
    const states = await Promise.all(this.at('master').map(({ program }) => this.isActive(program)))
    return states.includes(true)
  }

  /** Starts one daemon; resolves when it is ready. */
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
      throw new NotElected(`${program} did not start: the other nodes do not say that this node is the master`)
    } finally {
      if (once.length > 0) await disk.remove(file)
    }
    if (await this.isActive(program)) return
    throw new Error(`${program} did not start: its unit is not for this node now; systemctl status ${program} says why`)
  }

  async stop(program: string): Promise<void> {
    await this.order('stop', [unitOf(program)])
  }

  /**
   * The ssconf files may have changed: daemons whose place or lines decide where they run are started and stopped. Rejects when all were
   * tried and one of them failed.
   */
  async settle(isFor: (role: Role) => boolean): Promise<void> {
    const depending = this.roles.filter(({ place, lines }) => place === 'candidate' || lines !== undefined)
    await forEachOne(depending, async (role) => {
      const [wanted, active] = [isFor(role), await this.isActive(role.program)]
      if (wanted && !active) await this.start(role.program)
      if (!wanted && active) await this.stop(role.program)
    })
  }

  async isActive(program: string): Promise<boolean> {
    return (await this.property(program, 'ActiveState')) === 'active'
  }

  private at(place: Role['place']): readonly Role[] {
    return this.roles.filter((role) => role.place === place)
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
