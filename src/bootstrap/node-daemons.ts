// How the daemons of a real node start and stop when no `gantryd node` is their parent: as units of systemd
// (system-units.ts), or with daemon-util (plain-daemons.ts). Both carry out the same orders.
import type { Disk } from '../lib/disk'
import type { Files } from '../lib/files'
import { forEachOne } from '../lib/work/for-each-one'
import type { Paths } from '../lib/paths'
import type { Run } from '../lib/programs/run-command'
import { inOrder, isDaemonOfNode, type Role } from '../roles/role'

export interface NodeDaemonsOptions {
  readonly paths: Paths
  readonly disk: Disk
  readonly files: Pick<Files, 'existsSync'>
  readonly run: Run
  readonly roles: readonly Role[]
}

/** The votes of the other nodes were lost. */
export class NotElected extends Error {
  constructor(program: string) {
    super(`${program} did not start: the other nodes do not say that this node is the master`)
  }
}

const NO_VOTING = ['--no-voting', '--yes-do-it']

export abstract class NodeDaemons {
  protected readonly roles: readonly Role[]

  constructor(protected readonly options: NodeDaemonsOptions) {
    this.roles = inOrder(options.roles).filter(isDaemonOfNode)
  }

  /** Starts all that this node should have. */
  abstract startAll(): Promise<void>
  abstract stopAll(): Promise<void>
  /** For a caller that this stops too. */
  abstract stopAllLater(): Promise<void>
  abstract restartAll(): Promise<void>
  abstract stopMaster(): Promise<void>
  /** Starts one daemon; resolves when it is ready. */
  abstract start(program: string, once?: readonly string[]): Promise<void>
  abstract stop(program: string): Promise<void>
  abstract isActive(program: string): Promise<boolean>

  /**
   * Starts the master's daemons one after the other. Rejects with NotElected if the other nodes name another master.
   */
  async startMaster(noVoting: boolean): Promise<void> {
    for (const role of this.at('master')) await this.start(role.program, noVoting ? NO_VOTING : [])
  }

  /** Whether any of them runs. */
  async isMaster(): Promise<boolean> {
    const states = await Promise.all(this.at('master').map(({ program }) => this.isActive(program)))
    return states.includes(true)
  }

  /**
   * The ssconf files may have changed: daemons whose place or lines decide where they run are started and stopped. Rejects when all were
   * tried and one of them failed.
   */
  async settle(isFor: (role: Role) => boolean): Promise<void> {
    const depending = this.roles.filter(({ place, lines }) => place === 'candidate' || lines !== undefined)
    await forEachOne(depending, async (role) => {
      const [desired, active] = [isFor(role), await this.isActive(role.program)]
      if (desired && !active) await this.start(role.program)
      if (!desired && active) await this.stop(role.program)
    })
  }

  protected at(place: Role['place']): readonly Role[] {
    return this.roles.filter((role) => role.place === place)
  }
}
