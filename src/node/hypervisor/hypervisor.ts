// The interface of a back end that runs instances. One file (or folder) per back end implements it; the handlers of
// node calls are its only callers. A back end keeps its state in files and processes of this node, so that it outlives the
// node daemon; it never reads the cluster's configuration and never talks to other nodes.
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
  MigrationStatus,
  NicDict,
} from '../../rpc/node/dicts'

/** The objects that every back end gets; `NodeContext` fits. */
export interface HypervisorContext extends Machine {
  readonly paths: Paths
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** The node's own address: what serves on behalf of instances listens here. */
  readonly bindAddress: string
}

/** A disk of the instance, assembled on this node. */
export interface LinkedDisk {
  readonly disk: DiskDict
  /** The stable symbolic link below `instance-disks`, as a local path. */
  readonly link: string
  /** How user space reaches the disk without a kernel device, where its storage has such a way. */
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

/** An instance to be stopped; its parameters say how it is asked to. */
export type Stopped = Pick<InstanceDict, 'name' | 'hvparams'>

export interface StopOptions {
  /** Ends the instance at once instead of asking its system to shut down. */
  readonly force?: boolean
}

/** A failure that the caller is told about: the text of Ganeti's HypervisorError. */
export class HypervisorFailure extends NodeFailure {}

export type ConsoleKind = 'serial' | 'vnc'

/** How a client of this node logs in at a screen that asks for it. */
export interface ScreenLogin {
  /** Throws when the screen wants one and there is none. */
  password(): Promise<string>
  certificate(): Promise<{ readonly key?: Buffer; readonly cert?: Buffer }>
}

/** The place on this node where a console of a running instance is. */
export type ConsolePlace =
  | { readonly kind: 'serial'; readonly socket: string }
  | {
      readonly kind: 'vnc'
      readonly at: { readonly path: string } | { readonly host: string; readonly port: number }
      readonly login: ScreenLogin
    }

export interface HypervisorConsoles {
  /** Undefined while the instance does not run here. Throws when it runs without such a console. */
  find(instanceName: string, kind: ConsoleKind): Promise<ConsolePlace | undefined>
  /** Whether a client has the instance's serial line. */
  isTaken(instanceName: string): Promise<boolean>
  /** Sets an instance going that was started paused. */
  resume(instanceName: string): Promise<void>
  /** Tells when an instance may have begun or ceased to run here. */
  watch(instanceName: string, changed: () => void): { close(): void }
}

export interface Hypervisor {
  readonly name: string
  /** Names of the instances on this node, including those that their users shut down from inside. */
  list(): Promise<string[]>
  /** Undefined when the instance is not here. */
  info(instanceName: string): Promise<InstanceRuntime | undefined>
  allInfo(): Promise<Map<string, InstanceRuntime>>
  /** Whether it runs here, without asking the machine itself: what waits for an end asks this. */
  isRunning(instanceName: string): Promise<boolean>
  /** Resolves to what is otherwise than was asked for, in words for the job's log. */
  start(
    instance: InstanceDict,
    disks: readonly LinkedDisk[],
    paused: boolean,
    /** A disk that its cloud-init is to read, where the hypervisor can show one. */
    seed?: Uint8Array,
  ): Promise<readonly string[]>
  /** Brings a running instance that an interrupted start left half-way to where `start` would have left it. */
  settle(instance: InstanceDict): Promise<void>
  /** Asks (or forces) the instance to end; returns at once, `isRunning` tells the outcome. */
  stop(instance: Stopped, options?: StopOptions): Promise<void>
  /** Removes what a dead instance left on this node; refuses when it is alive. */
  cleanup(instanceName: string): Promise<void>
  /** Restarts the guest without giving up its place. */
  reboot(instance: InstanceDict): Promise<void>
  setMemory(instance: InstanceDict, memory_mib: number): Promise<void>

  /** Source: opaque text that the target needs. */
  migrationInfo(instance: InstanceDict): Promise<string>
  /** Target: gets ready to receive, and says what `start` would say; `target` is this node's address. */
  accept(instance: InstanceDict, info: string, target: string): Promise<readonly string[]>
  /** Source: starts the transfer; `migrationStatus` tells how it goes. */
  migrate(instance: InstanceDict, target: string, live: boolean): Promise<void>
  migrationStatus(instance: InstanceDict): Promise<MigrationStatus>
  /** Target: keeps the instance, or drops what was received; then it resolves to why loading it failed, where that is known. */
  finalizeTarget(instance: InstanceDict, info: string, success: boolean): Promise<string | undefined>
  /** Source: forgets the instance, or goes on running it (cancelling a transfer that still runs). */
  finalizeSource(instance: InstanceDict, success: boolean, live: boolean): Promise<void>

  console(request: ConsoleRequest): Promise<ConsoleInfo>
  /** Consoles that this node brings to others; absent where instances have none. */
  readonly consoles?: HypervisorConsoles
  nodeInfo(): Promise<HypervisorInfo>
  /** The reason why this node cannot run instances, or undefined. */
  verify(hvparams: HvParams): Promise<string | undefined>
  /** Refuses parameters that this node cannot honour. */
  validateParameters(hvparams: HvParams): Promise<void>

  /** Refuses when devices cannot be changed while the instance runs. */
  checkHotplug(instance: InstanceDict, action?: HotplugAction, target?: HotplugTarget): Promise<void>
  hotplug(instance: InstanceDict, action: HotplugAction, device: HotplugDevice, index: number): Promise<Plugged>
  /** Tells a running guest that a disk has grown. */
  resizeDisk(instance: InstanceDict, disk: DiskDict, size_bytes: number): Promise<void>
}
