// gantryd node: the parent of all daemons of one node. It starts what the node should have, starts again what dies, and obeys
// its noded, which is told by the master which node is master now. It serves nobody itself.
import { readFileSync } from 'node:fs'
import type { Clock } from '../../lib/clock'
import { isMissing } from '../../lib/disk'
import type { Log } from '../../lib/log'
import type { Paths } from '../../lib/paths'
import { Turns } from '../../lib/turns'
import { EXIT } from '../../model/constants/daemons'
import { Child } from './child'
import { type DaemonRequest, isDaemonRequest } from './requests'

/** In the order in which they are started; they are stopped in the reverse one. */
const MASTER_ROLES = ['wconfd', 'luxid', 'rapi'] as const
type MasterRole = (typeof MASTER_ROLES)[number]
type Role = 'noded' | 'sim' | MasterRole

export interface SupervisorOptions {
  paths: Paths
  clock: Clock
  log: Log
  /** The program that plays the roles (main.js). */
  program: string
  /** What each role is started with, beside its name. */
  args: Partial<Record<Role, readonly string[]>>
  /** Simulated nodes: `sim` in the place of noded, and no votes. */
  simulated: boolean
  /** The node left the cluster, or lost a daemon for good. */
  onEnd(reason: string): void
  /** A daemon died or came back; for whoever watches. */
  onNotice?(text: string): void
}

export class Supervisor {
  private readonly children = new Map<Role, Child>()
  /** Starting and stopping take turns. */
  private readonly turns = new Turns()
  private stopping = false

  constructor(private readonly options: SupervisorOptions) {}

  async start(): Promise<void> {
    await this.startRole(this.options.simulated ? 'sim' : 'noded')
    if (this.options.simulated || isMaster(this.options.paths)) await this.turns.take(() => this.startMaster([]))
  }

  /** The daemons that only a master has; the node itself stays. */
  stopMaster(): Promise<void> {
    return this.turns.take(async () => {
      for (const role of MASTER_ROLES.toReversed()) await this.stopRole(role)
    })
  }

  async stop(): Promise<void> {
    this.stopping = true
    await this.stopMaster()
    for (const role of ['noded', 'sim'] as const) await this.stopRole(role)
  }

  private async startMaster(extra: readonly string[]): Promise<void> {
    for (const role of MASTER_ROLES) {
      if (this.stopping) return
      await this.startRole(role, extra)
    }
  }

  private async startRole(role: Role, extra: readonly string[] = []): Promise<void> {
    if (this.children.get(role)?.running) return
    const { program, args, clock, log, paths } = this.options
    const child = new Child({
      name: `${paths.hostname || 'this node'}: ${role}`,
      ...{ program, clock },
      args: [role, ...(args[role] ?? []), ...extra],
      finalCodes: [EXIT.notMaster],
      onMessage: (message) => void (isDaemonRequest(message) && this.obey(message, child)),
      onDeath: (how, again_s) => this.died(role, how, again_s),
    })
    this.children.set(role, child)
    await child.start()
    log.info({ role, pid: child.pid }, 'started')
  }

  private async stopRole(role: Role): Promise<void> {
    const child = this.children.get(role)
    this.children.delete(role)
    await child?.stop()
  }

  private died(role: Role, how: string, again_s: number | undefined): void {
    const { log, onNotice } = this.options
    log.error({ role, how, again_s }, 'a daemon died')
    onNotice?.(`${role} ended (${how})${again_s === undefined ? '; it is not started again' : ', starting it again'}`)
  }

  /** A request of noded, on behalf of the master. */
  private async obey(request: DaemonRequest, from: Child): Promise<void> {
    const answer = { answerTo: request.id }
    try {
      from.send({ ...answer, result: await this.carryOut(request) })
    } catch (error) {
      from.send({ ...answer, error: error instanceof Error ? error.message : String(error) })
    }
  }

  private async carryOut(request: DaemonRequest): Promise<boolean> {
    if (request.action === 'start-master') {
      await this.turns.take(() => this.startMaster(request.noVoting ? ['--no-voting', '--yes-do-it'] : []))
      return true
    }
    if (request.action === 'stop-master') {
      await this.stopMaster()
      return true
    }
    if (request.action === 'leave') {
      this.options.onEnd('the node left the cluster')
      return true
    }
    const role = MASTER_ROLES.find((name) => `ganeti-${name}` === request.daemon)
    // A daemon that this version does not have does not run.
    if (role === undefined) return !request.run
    await this.turns.take(() => (request.run ? this.startRole(role) : this.stopRole(role)))
    return true
  }
}

/** Whether this node believes itself to be the master; the votes decide. */
function isMaster(paths: Paths): boolean {
  try {
    return readFileSync(paths.ssconf('master_node'), 'utf8').trim() === paths.hostname
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}
