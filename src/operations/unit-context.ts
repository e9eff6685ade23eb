// The tools of a running unit: the configuration through wconfd, the nodes, its log, and its locks.
import { ALLOCATORS_SECTION, defaultAllocators, type DefaultAllocators } from '../model/allocators'
import type { ConfigData, Node } from '../model/config'
import { withoutMarks } from '../model/marks'
import { GanetiError } from '../model/errors'
import { PeerError } from '../rpc/json-protocol'
import type { WireOpCode } from '../rpc/luxi/calls'
import type { ReasonTrail } from '../rpc/node/dicts'
import type { change } from '../config/changes'
import type { Selector } from '../rpc/wconfd/calls'
import type { JobEnvironment } from './environment'
import type { LockSession } from './lock-session'
import { NodeAccess } from './node-access'
import { UnitLog } from './unit-log'

export class UnitContext {
  readonly config: ConfigAccess
  readonly log: UnitLog
  readonly nodes: NodeAccess
  /** Runs the opcode's post hooks on a node that is about to leave the cluster; the processor sets it. */
  postHooksOn: (node: Node) => Promise<void> = () => Promise.resolve()

  constructor(
    readonly env: JobEnvironment,
    readonly locks: LockSession,
    /** The opcode as submitted: for its reason trail and its common parameters. */
    readonly op: WireOpCode,
  ) {
    this.config = new ConfigAccess(env, locks)
    this.log = new UnitLog(env)
    this.nodes = new NodeAccess(env)
  }

  /** Shows in the job what the opcode's parameters became: full names, uuids, defaults. */
  note(fields: Readonly<Record<string, unknown>>): void {
    const { secrets } = this.env
    this.env.note(Object.fromEntries(Object.entries(fields).filter(([name]) => !Object.hasOwn(secrets, name))))
  }

  /** The reason trail as nodes get it: noded stores it with the instance's state changes, and mond shows it to everybody. */
  get reason(): ReasonTrail {
    const trail: unknown = this.op['reason']
    // The opcode table has checked its entries.
    return Array.isArray(trail) ? (withoutMarks(trail) as readonly unknown[] as ReasonTrail) : []
  }
}

/** Made by `change` of config/changes, which checks the arguments. */
export type Change = ReturnType<typeof change>

/** Reads slices of the configuration and changes it by name; counts the changes for the config-update hook. */
export class ConfigAccess {
  writes = 0
  /** A change was sent, whether or not it was carried out. */
  begun = false
  /**
   * The outcome of a change is not known. Then nothing may be undone that the configuration may name: neither the
   * former state nor the new one may lose its parts.
   */
  isUnknown = false

  constructor(
    private readonly env: JobEnvironment,
    private readonly locks: LockSession,
  ) {}

  read(selector: Selector): Promise<ConfigData> {
    return this.env.wconfd.gantryRead(selector)
  }

  /** A section of gantry.data. */
  section(name: string): Promise<Readonly<Record<string, unknown>>> {
    return this.env.wconfd.gantrySection(name)
  }

  /** The default allocators of each kind of question that has a list. */
  async defaultAllocators(): Promise<DefaultAllocators> {
    return defaultAllocators(await this.env.wconfd.gantrySection(ALLOCATORS_SECTION))
  }

  /**
   * Applies the changes as one durable step. Returns each change's result.
   *
   * If the answer is lost for good, `isMade` reads back whether the changes were made. Then they count as answered,
   * without results; otherwise this throws, as it does without `isMade`.
   */
  async change(changes: readonly Change[], isMade?: () => Promise<boolean>): Promise<unknown[]> {
    if (changes.length === 0) return []
    this.begun = true
    try {
      const results = await this.send(changes)
      this.writes++
      return results
    } catch (error) {
      if (isRefusal(error)) throw error
      this.isUnknown = true
      this.writes++
      if (isMade === undefined || !(await this.isSettled()) || !(await isMade())) throw error
      return []
    }
  }

  /**
   * Whether the configuration that can be read now is final. After a lost answer the change may still be under way. wconfd
   * makes changes in their order, so an answer to a later one, which changes nothing, ends that.
   */
  async isSettled(): Promise<boolean> {
    if (!this.isUnknown) return true
    try {
      await this.send([])
      this.isUnknown = false
    } catch (error) {
      this.env.processLog.warn({ err: error }, 'it is still not known whether a change of the configuration was made')
    }
    return !this.isUnknown
  }

  private send(changes: readonly Change[]): Promise<unknown[]> {
    return this.env.wconfd.gantryChange(this.env.client, this.locks.epoch, changes)
  }
}

/** The change was certainly not made: wconfd has said so, or was not there. */
const isRefusal = (error: unknown): boolean =>
  error instanceof GanetiError ||
  (error instanceof PeerError && (error.kind === 'unreachable' || error.kind === 'forbidden'))
