// gantryd node: the parent of all daemons of one node. It starts what the node should have, starts again what dies, and obeys
// its noded, which is told by the master which node is master now. It serves nobody itself.
import { errorText } from '../../lib/system-failure'
import { readFileSync } from 'node:fs'
import type { Clock, Timer } from '../../lib/clock'
import { isMissing, systemDisk } from '../../lib/disk'
import { isServed } from '../../lib/json-socket'
import type { Log } from '../../lib/log'
import type { Paths } from '../../lib/paths'
import { Turns } from '../../lib/turns'
import { EXIT } from '../../model/constants/daemons'
import { MASTER_RETRY_S, YOUNG_MIB } from '../../model/limits'
import { LuxiClient } from '../../rpc/luxi/client'
import { endJobs, killJobProcesses } from '../../services/end-jobs'
import { Child, ChildFailure } from './child'
import { type DaemonRequest, isDaemonRequest } from './requests'

/** In the order in which they are started; they are stopped in the reverse one. */
const MASTER_ROLES = ['wconfd', 'luxid', 'rapi'] as const
type MasterRole = (typeof MASTER_ROLES)[number]
type Role = 'noded' | 'sim' | MasterRole

export interface SupervisorOptions {
  paths: Paths
  clock: Clock
  log: Log
  /** The program that plays the roles (bin/gantryd.js). */
  program: string
  /** What each role is started with, beside its name. */
  args: Partial<Record<Role, readonly string[]>>
  /** Simulated nodes: `sim` in the place of noded, and no votes. */
  simulated: boolean
  /** The node left the cluster, or lost a daemon for good. */
  onEnd(reason: string): void
  /** A daemon died or came back; for whoever watches. */
  onNotice?(text: string): void
  /** The master's daemons run here now. */
  onMaster?(): void
}

export class Supervisor {
  private readonly children = new Map<Role, Child>()
  /** Starting and stopping take turns. */
  private readonly turns = new Turns()
  private stopping = false
  private retry: Timer | undefined

  constructor(private readonly options: SupervisorOptions) {}

  async start(): Promise<void> {
    await this.startRole(this.options.simulated ? 'sim' : 'noded')
    await this.turns.take(() => this.beMaster())
  }

  /** The daemons that only a master has; the node itself stays. */
  stopMaster(): Promise<void> {
    return this.turns.take(() => this.stopMasterRoles())
  }

  async stop(): Promise<void> {
    this.stopping = true
    await this.stopMaster()
    for (const role of ['noded', 'sim'] as const) await this.stopRole(role)
  }

  /** A node that believes to be the master asks for votes until it has them, or is told that another one is the master. */
  private async beMaster(): Promise<void> {
    const { simulated, paths } = this.options
    if (this.stopping || !(simulated || isMaster(paths)) || (await this.startMaster([]))) return
    this.beMasterLater()
  }

  private beMasterLater(): void {
    this.retry = this.options.clock.after(MASTER_RETRY_S * 1000, () => this.inBackground(() => this.beMaster()))
  }

  /** Whether the votes were won. */
  private async startMaster(extra: readonly string[]): Promise<boolean> {
    this.retry?.cancel()
    for (const role of MASTER_ROLES) {
      if (this.stopping) return false
      try {
        await this.startRole(role, extra)
      } catch (error) {
        if (!(error instanceof ChildFailure) || error.exitCode !== EXIT.notMaster) throw error
        this.options.log.warn({ role, err: error }, 'this node is not the master now')
        this.options.onNotice?.(error.message)
        await this.stopMasterRoles()
        return false
      }
    }
    this.options.onMaster?.()
    return true
  }

  private async stopMasterRoles(): Promise<void> {
    this.retry?.cancel()
    for (const role of MASTER_ROLES.toReversed()) await this.stopRole(role)
  }

  /** What is left of this master would go on beside the next one. */
  private async endMaster(): Promise<void> {
    const { paths, clock, log } = this.options
    const note = (text: string) => log.info({ text }, 'ending the jobs of this master')
    const path = paths.socket('query')
    if (await isServed(path)) {
      const luxi = new LuxiClient({ path })
      await endJobs(luxi, clock, note).catch((error: unknown) => log.error({ err: error }, 'luxid cannot end its jobs'))
      luxi.close()
    }
    await this.stopMasterRoles()
    const killed = await killJobProcesses(paths, systemDisk)
    if (killed.length > 0) log.warn({ jobs: killed }, 'killed the processes of jobs')
  }

  private async startRole(role: Role, extra: readonly string[] = []): Promise<void> {
    if (this.children.get(role)?.running) return
    const { program, args, clock, log, paths } = this.options
    const child = new Child({
      name: `${paths.hostname || 'this node'}: ${role}`,
      ...{ program, clock },
      args: [role, ...(args[role] ?? []), ...extra],
      young_mib: role === 'noded' ? YOUNG_MIB.node : undefined,
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
    // It lost the votes, and so would the others.
    if (again_s === undefined)
      this.inBackground(async () => {
        await this.endMaster()
        await this.beMaster()
      })
  }

  /** A request of noded, on behalf of the master. */
  private async obey(request: DaemonRequest, from: Child): Promise<void> {
    const answer = { answerTo: request.id }
    try {
      from.send({ ...answer, result: await this.carryOut(request) })
    } catch (error) {
      from.send({ ...answer, error: errorText(error) })
    }
  }

  private async carryOut(request: DaemonRequest): Promise<boolean> {
    if (request.action === 'start-master') {
      if (await this.turns.take(() => this.startMaster(request.noVoting ? ['--no-voting', '--yes-do-it'] : [])))
        return true
      throw new Error('the master daemons did not start: the other nodes do not say that this node is the master')
    }
    if (request.action === 'stop-master') {
      await this.turns.take(() => this.endMaster())
      return true
    }
    if (request.action === 'yield-master') return this.turns.take(() => this.yieldMaster())
    if (request.action === 'leave') {
      this.options.onEnd('the node left the cluster')
      return true
    }
    const role = MASTER_ROLES.find((name) => `ganeti-${name}` === request.daemon)
    if (role === undefined) {
      if (!request.run) return true
      throw new Error(`there is no ${request.daemon} to start: this version has none`)
    }
    await this.turns.take(() => (request.run ? this.startRole(role) : this.stopRole(role)))
    return true
  }

  /** Two nodes that both believe to be the master: whoever does not win the votes again gives way. */
  private async yieldMaster(): Promise<boolean> {
    if (MASTER_ROLES.every((role) => this.children.get(role)?.running !== true)) return true
    await this.endMaster()
    return !(await this.startMaster([]))
  }

  private inBackground(work: () => Promise<void>): void {
    this.turns.take(work).catch((error: unknown) => {
      this.options.log.error({ err: error }, 'the master daemons cannot be started')
      this.options.onNotice?.(errorText(error))
      this.beMasterLater()
    })
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
