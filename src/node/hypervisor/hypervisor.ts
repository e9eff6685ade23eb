// The interface of a back end that runs instances. One file (or folder) per back end implements it; the handlers of
// node calls are its only callers. A back end keeps its state in files and processes of this node, so that it survives
// the node daemon. It never reads the cluster's configuration and never talks to other nodes.
import type { Clock } from '../../lib/clock'
import type { Log } from '../../lib/log'
import type { Machine } from '../../lib/machine'
import type { Paths } from '../../lib/paths'
import type { Random } from '../../lib/random'
import { NodeFailure } from '../failure'
import type {
  ConsoleInfo,
  ConsoleRequest,
  DiskDict,
  HvParams,
  HypervisorInfo,
  InstanceDict,
  InstanceRuntime,
  MigrationSideName,
  MigrationSideStatus,
  NicDict,
} from '../../rpc/node/dicts'

/** What every back end gets; `NodeContext` fits. */
export interface HypervisorContext extends Machine {
  readonly paths: Paths
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** The node's own address, on which servers of instances listen. */
  readonly bindAddress: string
}

/** A disk of the instance, assembled on this node. */
export interface LinkedDisk {
  readonly disk: DiskDict
  /** The stable symbolic link below `instance-disks`, as a local path. */
  readonly link: string
  /** How user space reaches the disk without a kernel device, if its storage supports that. */
  readonly uri?: string
}

export type HotplugTarget = 'disk' | 'nic'
/** A device that was plugged in or out. */
export interface Plugged {
  /** On the guest's bus, as kept in the runtime files. */
  readonly place: unknown
  /** They say in which way it is otherwise than was asked for. */
  readonly remarks?: readonly string[]
}

export type HotplugAction = 'hotadd' | 'hotremove' | 'hotmod'
export type HotplugDevice =
  { readonly target: 'disk'; readonly disk: LinkedDisk } | { readonly target: 'nic'; readonly nic: NicDict }

/** An instance to stop; its parameters say how to ask it. */
export type Stopped = Pick<InstanceDict, 'name' | 'hvparams'>

export interface StopOptions {
  /** Ends the instance at once instead of asking its system to shut down. */
  readonly force?: boolean
}

/** A failure that the caller is told about: the text of Ganeti's HypervisorError. */
export class HypervisorFailure extends NodeFailure {}

export type ConsoleKind = 'serial' | 'vnc'

/** How a local client logs in at a screen that asks for it. */
export interface ScreenLogin {
  /** Throws if the screen wants a password and there is none. */
  password(): Promise<string>
  certificate(): Promise<{ readonly key?: Buffer; readonly cert?: Buffer }>
}

/** The place of a running instance's console on this node. */
export type ConsolePlace =
  | { readonly kind: 'serial'; readonly socket: string }
  | {
      readonly kind: 'vnc'
      readonly at: { readonly path: string } | { readonly host: string; readonly port: number }
      readonly login: ScreenLogin
    }

export interface HypervisorConsoles {
  /** Undefined while the instance does not run here. Throws if it runs without such a console. */
  find(instanceName: string, kind: ConsoleKind): Promise<ConsolePlace | undefined>
  /** Whether a client has the instance's serial line. */
  isTaken(instanceName: string): Promise<boolean>
  /** Resumes an instance that was started paused. */
  resume(instanceName: string): Promise<void>
  /** Notifies when an instance may have started or stopped running here. */
  watch(instanceName: string, changed: () => void): { close(): void }
}

/** A guest on a type of machine that the node's present program calls deprecated, or does not have any more. */
export interface OldMachine {
  readonly instance: string
  readonly machine: string
  /** The version of the program. */
  readonly version: string
  readonly gone: boolean
}

export interface Hypervisor {
  readonly name: string
  /** Names of the instances on this node, including those that their users shut down from inside. */
  list(): Promise<string[]>
  /** Undefined if the instance is not here. */
  info(instanceName: string): Promise<InstanceRuntime | undefined>
  allInfo(): Promise<Map<string, InstanceRuntime>>
  /** Whether it runs here, without asking the machine itself; used while waiting for its end. */
  isRunning(instanceName: string): Promise<boolean>
  /** Resolves to differences from the request, in words for the job's log. */
  start(
    instance: InstanceDict,
    disks: readonly LinkedDisk[],
    paused: boolean,
    /** A disk for its cloud-init, if the hypervisor can show one. */
    seed?: Uint8Array,
  ): Promise<readonly string[]>
  /** Brings an instance that an interrupted start left half-way to the state after a complete start. */
  settle(instance: InstanceDict): Promise<void>
  /** Asks (or forces) the instance to end. Returns at once; `isRunning` tells the outcome. */
  stop(instance: Stopped, options?: StopOptions): Promise<void>
  /** Removes a dead instance's remains on this node; refuses if it is alive. */
  cleanup(instanceName: string): Promise<void>
  /** Restarts the guest in place. */
  reboot(instance: InstanceDict): Promise<void>
  setMemory(instance: InstanceDict, memory_mib: number): Promise<void>

  /** Source: opaque text for the target. */
  migrationInfo(instance: InstanceDict): Promise<string>
  /** Target: prepares to receive. Returns the same remarks as `start`; `target` is this node's address. */
  accept(instance: InstanceDict, info: string, target: string, secure?: boolean): Promise<readonly string[]>
  /** Source: starts the transfer; `migrationStatus` tells its progress. */
  migrate(instance: InstanceDict, target: string, live: boolean, secure?: boolean): Promise<void>
  /** Whether this node can be either side of a migration with TLS (`secure`). */
  canEncrypt(instance: InstanceDict): Promise<boolean>
  migrationStatus(instance: InstanceDict): Promise<MigrationSideStatus>
  /** Connects the sides again after the switch to post-copy: the target listens on its address, then the source calls. */
  recoverMigration(instance: InstanceDict, target: string, side: MigrationSideName): Promise<void>
  /**
   * Target: keeps the instance, or drops the received data; then resolves to the reason why loading failed, if known.
   */
  finalizeTarget(instance: InstanceDict, info: string, success: boolean): Promise<string | undefined>
  /** Source: forgets the instance, or resumes it (and cancels a running transfer). */
  finalizeSource(instance: InstanceDict, success: boolean, live: boolean): Promise<void>

  console(request: ConsoleRequest): Promise<ConsoleInfo>
  /** Consoles that this node serves; missing if instances have none. */
  readonly consoles?: HypervisorConsoles
  nodeInfo(): Promise<HypervisorInfo>
  /** Guests that must be started anew before an upgrade; missing if there are no types of machines. */
  oldMachines?(): Promise<readonly OldMachine[]>
  /** Why this node cannot run instances, or undefined. */
  verify(hvparams: HvParams): Promise<string | undefined>
  /** Refuses parameters that this node cannot honour. */
  validateParameters(hvparams: HvParams): Promise<void>
  /** Refuses a start with these that is certain to fail here; missing if that is never known before. */
  checkStart?(hvparams: HvParams, vcpus: number): Promise<void>

  /** Refuses if devices cannot be changed while the instance runs. */
  checkHotplug(instance: InstanceDict, action?: HotplugAction, target?: HotplugTarget): Promise<void>
  hotplug(instance: InstanceDict, action: HotplugAction, device: HotplugDevice, index: number): Promise<Plugged>
  /** Tells a running guest that a disk has grown. */
  resizeDisk(instance: InstanceDict, disk: DiskDict, size_bytes: number): Promise<void>
}
