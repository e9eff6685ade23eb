// The node: the back ends on one machine of the cluster, driven by node calls. It knows its own files, devices and
// programs. It never reads the cluster's configuration, only the ssconf files. It never calls another node, except to
// test that it answers.
import type { Documents } from '../model/config'
import type { Clock } from '../lib/clock'
import type { Disk } from '../lib/disk'
import type { LockFile } from '../lib/file/lock'
import type { Log } from '../lib/log'
import type { Machine } from '../lib/machine'
import type { Paths } from '../lib/paths'
import type { Random } from '../lib/random'
import type { FileJournal } from '../lib/file/journal'
import type { ArgsOf, CallName, ResultOf } from '../rpc/node/calls'
import type { Hypervisor } from './hypervisor/hypervisor'
import type { NodeMeasures } from './measures'
import type { Ssconf } from './ssconf'

/**
 * All access to the node's machine goes through this; nothing below here reads a clock, opens a file or runs a program
 * by itself.
 */
export interface NodeContext extends Machine {
  readonly paths: Paths
  readonly hostname: string
  /** The node's own address, on which servers of virtual machines (VNC, migration) listen. */
  readonly bindAddress: string
  readonly clock: Clock
  readonly random: Random
  /** For state that must survive a crash; `files` is for the rest. */
  readonly disk: Disk
  readonly log: Log
  readonly ssconf: Ssconf
  /** Directories of OS definitions on this machine. The first match wins; the bundled ones come last. */
  readonly osSearchPath: readonly string[]
  /**
   * Those of them that a virtual node shares with its machine: only definitions that nobody but root may change count.
   */
  readonly machineOsPath?: readonly string[]
  /** Throws if this node lacks the hypervisor. */
  hypervisor(name: string): Hypervisor
  readonly daemons: DaemonControl
  /** The running version of Gantry; missing if it runs from no package. */
  readonly release?: string
  /** The folder of volumes in user space, if the node has these instead of LVM and DRBD. */
  readonly userVolumes?: string
  /** The program for mirrored disks in user space; the node's virtual root and name are appended. */
  readonly mirrorProgram?: readonly [program: string, ...args: string[]]
  /** For locks that other programs also take; missing if there are none. */
  readonly lockFile?: LockFile
  readonly measures: NodeMeasures
  /**
   * The journal of the queue's copy. Changes run one at a time: a call of a killed luxid must not end after a call of
   * the next one.
   */
  readonly queueJournal: FileJournal
  /** The configuration's copy on a master candidate; missing if the node's entry point keeps none. */
  readonly configReplica?: ConfigReplica
  /** The signal of a call: it fires when the caller leaves. */
  readonly caller?: AbortSignal
  /** Why a call must not be carried out any more although it was accepted: its caller is no longer the master. */
  readonly late?: () => string | undefined
}

export interface ConfigReplica {
  /** Resolves when the journal records are durable; rejects if they do not follow the existing ones. */
  append(records: string): Promise<void>
  /** Returns the files in which it has kept what the new copy lacks. */
  replace(config: string, gantry: string): Promise<readonly string[]>
  /** Undefined while the files are not open. */
  documents(): Documents | undefined
  /** Gives up the files, and works on them while no process has them open; the next call opens them again. */
  alone<T>(work: () => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** Starts and stops the node's daemons, in the entry point's way. */
export interface DaemonControl {
  startMaster(noVoting: boolean): Promise<void>
  /** Another node becomes the master: stops the master's daemons here and ends their jobs. */
  stopMaster(): Promise<void>
  /**
   * Somebody says that another node is the master. Asks for the votes again. Resolves to whether no daemons run as
   * master here.
   */
  yieldMaster(): Promise<boolean>
  /** Starts or stops one daemon by its program name. Resolves to whether it is in the wanted state. */
  ensure(daemon: string, run: boolean): Promise<boolean>
  /** The ssconf files have changed: starts the daemons that this node should have now, and stops the others. */
  settle(): Promise<void>
  /** The node has left the cluster: ends noded after its answer was sent. */
  leave(): void
}

export type Handler<C extends CallName> = (
  context: NodeContext,
  ...args: ArgsOf<C>
) => ResultOf<C> | Promise<ResultOf<C>>

export type Handlers = { readonly [C in CallName]: Handler<C> }
