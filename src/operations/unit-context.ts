// The tools of a running unit: the configuration through wconfd, the nodes, its log, and its locks.
import { ALLOCATORS_SECTION, defaultAllocators, type DefaultAllocators } from '../model/allocators'
import type { ConfigData, Node } from '../model/config'
import { withoutMarks } from '../model/marks'
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

  /** Applies the changes as one durable step. Returns each change's result. */
  async change(changes: readonly Change[]): Promise<unknown[]> {
    if (changes.length === 0) return []
    this.begun = true
    const results = await this.env.wconfd.gantryChange(this.env.client, this.locks.epoch, changes)
    this.writes++
    return results
  }
}
