// gantryd node: the parent of all daemons of one node. It starts the daemons that the node should have, restarts dead
// ones, and obeys its noded, to which the master tells who is master now. It serves nobody itself.
import { errorText } from '../../lib/system-failure'
import type { Clock, Timer } from '../../lib/clock'
import type { Disk } from '../../lib/disk'
import type { Files } from '../../lib/files'
import { forEachOne } from '../../lib/work/for-each-one'
import type { Log } from '../../lib/log'
import type { Paths } from '../../lib/paths'
import type { Processes } from '../../lib/programs/processes'
import { Mutex } from '../../lib/work/mutex'
import { EXIT } from '../../model/constants/daemons'
import { PART_RETRY_S } from '../../model/limits/daemons'
import { MASTER_RETRY_S } from '../../model/limits/master'
import { inOrder, type Place, type Role } from '../../roles/role'
import { Child, ChildFailure } from './child'
import { endMaster } from './end-master'
import { isFor, isMaster, roleToEnsure } from './place'
import { type DaemonRequest, isDaemonRequest } from './requests'
import { WatcherTimer } from './watcher-timer'

export interface SupervisorOptions {
  paths: Paths
  clock: Clock
  disk: Disk
  files: Files
  processes: Processes
  log: Log
  /** The program that plays the roles (bin/gantryd.js). */
  program: string
  /** bin/ganeti-watcher and bin/ganeti-cleaner; without them none runs. */
  watcher?: { readonly program: string; readonly cleaner: string }
  roles: readonly Role[]
  /** The arguments of each role, by the role's name. */
  args: ReadonlyMap<string, readonly string[]>
  /** Simulated nodes have other roles, and cannot vote. */
  simulated: boolean
  /** Master daemons start without asking for votes. */
  noVoting: boolean
  /** The node left the cluster, or lost a daemon for good. */
  onEnd(reason: string): void
  /** Called when a daemon died or came back. */
  onNotice?(text: string): void
  /** The master's daemons run here now. */
  onMaster?(): void
}

const NO_VOTING = ['--no-voting', '--yes-do-it']

export class Supervisor {
  private readonly children = new Map<string, Child>()
  /** The parts that could not start, and are tried again. */
  private readonly missing = new Set<string>()
  /** The roles of this kind of node, in the order of their start. They stop in the reverse order. */
  private readonly roles: readonly Role[]
  /** Starts and stops run one after the other. */
  private readonly turns = new Mutex()
  private stopping = false
  private retry: Timer | undefined
  private readonly watcher: WatcherTimer | undefined

  constructor(private readonly options: SupervisorOptions) {
    const other = options.simulated ? 'real' : 'simulated'
    this.roles = inOrder(options.roles).filter(({ nodes }) => nodes !== other)
    const isMaster = () =>
      this.at('master').every(({ name, part }) => part !== undefined || this.children.get(name)?.running === true)
    this.watcher = options.watcher && new WatcherTimer({ ...options, ...options.watcher, isMaster })
  }

  async start(): Promise<void> {
    for (const role of this.at('node')) if (this.isFor(role)) await this.startRole(role)
    await this.turns.runExclusive(async () => {
      await this.settle()
      await this.beMaster()
    })
    this.watcher?.start('the node was started')
  }

  /** Stops the daemons that only a master has; the node itself stays. */
  stopMaster(): Promise<void> {
    return this.turns.runExclusive(() => this.stopMasterRoles())
  }

  async stop(): Promise<void> {
    this.stopping = true
    this.watcher?.close()
    await this.stopMaster()
    await this.turns.runExclusive(() => this.stopRoles(this.roles))
  }

  /** Undefined for a role that does not run. */
  pidOf(role: string): number | undefined {
    return this.children.get(role)?.pid
  }

  private at(place: Place): readonly Role[] {
    return this.roles.filter((role) => role.place === place)
  }

  private async stopRoles(roles: readonly Role[]): Promise<void> {
    for (const role of roles.toReversed()) await this.stopRole(role)
  }

  /** The ssconf files may have changed: starts the daemons that this node should have now, and stops the others. */
  private async settle(): Promise<void> {
    if (this.stopping) return
    const depending = this.roles.filter(({ place, lines }) => place === 'candidate' || lines !== undefined)
    await this.stopRoles(depending.filter((role) => !this.isFor(role)))
    await forEachOne(
      depending.filter((role) => this.isFor(role)),
      (role) => this.startRole(role),
    )
  }

  /** Simulated nodes count as candidates, whatever their files say. */
  private isFor(role: Role): boolean {
    return isFor(this.options.simulated ? { ...role, place: 'node' } : role, this.options)
  }

  /**
   * A node that believes it is the master asks for votes until it has them, or learns that another node is the master.
   */
  private async beMaster(): Promise<void> {
    const { simulated } = this.options
    if (this.stopping || !(simulated || isMaster(this.options)) || (await this.startMaster(false))) return
    this.beMasterLater()
  }

  private beMasterLater(): void {
    this.retry = this.options.clock.after(MASTER_RETRY_S * 1000, () => this.inBackground(() => this.beMaster()))
  }

  /** Returns whether the votes were won. */
  private async startMaster(noVoting: boolean): Promise<boolean> {
    const { simulated } = this.options
    const extra = noVoting || simulated || this.options.noVoting ? NO_VOTING : []
    this.retry?.cancel()
    for (const role of this.at('master')) {
      if (this.stopping) return false
      try {
        await this.startRole(role, extra)
      } catch (error) {
        if (!(error instanceof ChildFailure) || error.exitCode !== EXIT.notMaster) throw error
        this.options.log.warn({ role: role.name, err: error }, 'this node is not the master now')
        this.options.onNotice?.(error.message)
        await this.stopMasterRoles()
        return false
      }
    }
    this.options.onMaster?.()
    this.watcher?.soon('the master was started')
    return true
  }

  private async stopMasterRoles(): Promise<void> {
    this.retry?.cancel()
    await this.stopRoles(this.at('master'))
  }

  private endMaster(): Promise<void> {
    return endMaster(this.options, () => this.stopMasterRoles())
  }

  private async startRole(role: Role, extra: readonly string[] = []): Promise<void> {
    const { name, frugal, part, exits = {} } = role
    if (this.children.get(name)?.running || this.missing.has(name)) return
    const { program, args, clock, processes, log, paths } = this.options
    const child = new Child({
      name: `${paths.hostname || 'this node'}: ${name}`,
      ...{ program, clock, processes, frugal },
      args: [name, ...(args.get(name) ?? []), ...extra],
      finalCodes: Object.keys(exits).map(Number),
      onMessage: (message) => void (isDaemonRequest(message) && this.obey(message, child)),
      onDeath: (how, again_s) => this.died(role, how, again_s),
    })
    this.children.set(name, child)
    try {
      await child.start()
    } catch (error) {
      const isFinal = error instanceof ChildFailure && error.exitCode !== null && error.exitCode in exits
      if (part === undefined || isFinal) throw error
      return this.goWithout(role, child, error)
    }
    log.info({ role: name, pid: child.pid }, 'started')
  }

  /** The node works without this part, which is tried again until it runs. */
  private goWithout(role: Role, child: Child, error: unknown): void {
    const { clock, log, onNotice } = this.options
    const { name, part } = role
    if (this.children.get(name) !== child) return
    if (!this.missing.has(name)) onNotice?.(`${name} cannot run, so ${part} are missing: ${errorText(error)}`)
    this.missing.add(name)
    log.error({ role: name, err: error, again_s: PART_RETRY_S }, 'a part of the node cannot start')
    clock.after(PART_RETRY_S * 1000, () => void this.startAgain(role, child), { background: true })
  }

  private async startAgain(role: Role, child: Child): Promise<void> {
    const { name } = role
    if (this.children.get(name) !== child) return
    try {
      await child.start()
      this.missing.delete(name)
      this.options.onNotice?.(`${name} runs now`)
    } catch (error) {
      this.goWithout(role, child, error)
    }
  }

  private async stopRole({ name }: Role): Promise<void> {
    const child = this.children.get(name)
    this.children.delete(name)
    this.missing.delete(name)
    await child?.stop()
  }

  private died({ name, place }: Role, how: string, again_s: number | undefined): void {
    const { log, onNotice } = this.options
    log.error({ role: name, how, again_s }, 'a daemon died')
    onNotice?.(`${name} ended (${how})${again_s === undefined ? '; it is not started again' : ', starting it again'}`)
    // It lost the votes, and so would the others.
    if (again_s === undefined && place === 'master')
      this.inBackground(async () => {
        await this.endMaster()
        await this.beMaster()
      })
  }

  /** Carries out a request of noded, on behalf of the master. */
  private async obey(request: DaemonRequest, from: Child): Promise<void> {
    const answer = { answerTo: request.id }
    try {
      from.send({ ...answer, result: await this.carryOut(request, from) })
    } catch (error) {
      from.send({ ...answer, error: errorText(error) })
    }
  }

  private async carryOut(request: DaemonRequest, from: Child): Promise<boolean> {
    if (request.action === 'start-master') {
      if (await this.turns.runExclusive(() => this.startMaster(request.noVoting))) return true
      throw new Error('the master daemons did not start: the other nodes do not say that this node is the master')
    }
    if (request.action === 'stop-master') {
      await this.turns.runExclusive(() => this.endMaster())
      return true
    }
    if (request.action === 'yield-master') return this.turns.runExclusive(() => this.yieldMaster())
    if (request.action === 'leave') {
      this.options.onEnd('the node left the cluster')
      return true
    }
    if (request.action === 'watch') {
      this.watcher?.soon(request.why)
      return true
    }
    if (request.action === 'settle') {
      await this.turns.runExclusive(() => this.settle())
      return true
    }
    return this.ensure(request.daemon, request.run, from)
  }

  private async ensure(daemon: string, run: boolean, from: Child): Promise<boolean> {
    const role = roleToEnsure(this.roles, daemon, run)
    if (role === undefined) return true
    if (this.children.get(role.name) === from) throw new Error(`${daemon} cannot start or stop itself`)
    await this.turns.runExclusive(() => (run ? this.startRole(role) : this.stopRole(role)))
    return true
  }

  /** If two nodes both believe they are the master, the one that does not win the votes again gives way. */
  private async yieldMaster(): Promise<boolean> {
    if (this.at('master').every(({ name }) => this.children.get(name)?.running !== true)) return true
    await this.endMaster()
    return !(await this.startMaster(false))
  }

  private inBackground(work: () => Promise<void>): void {
    this.turns.runExclusive(work).catch((error: unknown) => {
      this.options.log.error({ err: error }, 'the master daemons cannot be started')
      this.options.onNotice?.(errorText(error))
      this.beMasterLater()
    })
  }
}
