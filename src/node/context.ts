// The node: what runs on one machine of the cluster, told by node calls. It knows its own files, devices and programs; it never
// reads the cluster's configuration, only the ssconf files, and never calls another node except to test that it answers.
import type { Clock } from '../lib/clock'
import type { Disk } from '../lib/disk'
import type { LockFile } from '../lib/file-lock'
import type { Log } from '../lib/log'
import type { Machine } from '../lib/machine'
import type { Paths } from '../lib/paths'
import type { Random } from '../lib/random'
import type { FileJournal } from '../lib/file-journal'
import type { ArgsOf, CallName, ResultOf } from '../rpc/node/calls'
import type { Hypervisor } from './hypervisor/hypervisor'
import type { NodeMeasures } from './measures'
import type { Ssconf } from './ssconf'

/** All that reaches the node's machine is in it; nothing below here reads a clock, opens a file or runs a program by itself. */
export interface NodeContext extends Machine {
  readonly paths: Paths
  readonly hostname: string
  /** The node's own address: servers of virtual machines (VNC, migration) listen here. */
  readonly bindAddress: string
  readonly clock: Clock
  readonly random: Random
  /** For what no crash may spoil; `files` is for the rest. */
  readonly disk: Disk
  readonly log: Log
  readonly ssconf: Ssconf
  /** Directories of OS definitions on this machine, the first match wins; the bundled ones come last. */
  readonly osSearchPath: readonly string[]
  /** Those of them that a virtual node shares with its machine: there only what nobody but root may change counts. */
  readonly machineOsPath?: readonly string[]
  /** Throws when this node has no such hypervisor. */
  hypervisor(name: string): Hypervisor
  readonly daemons: DaemonControl
  /** The version of Gantry that runs here; absent where it runs from no package. */
  readonly release?: string
  /** Where this node keeps volumes in user space, which it has instead of LVM and DRBD. */
  readonly userVolumes?: string
  /** The program for its mirrored disks then; the node's virtual root and name are added. */
  readonly mirrorProgram?: readonly [program: string, ...args: string[]]
  /** For locks that programs of others take as well; absent where there are none. */
  readonly lockFile?: LockFile
  readonly measures: NodeMeasures
  /** The journal of the queue's copy. Changes take turns: a call that a killed luxid sent must not end after a call of the next luxid. */
  readonly queueJournal: FileJournal
  /** The configuration's copy on a master candidate; absent where the node's entry point keeps none. */
  readonly configReplica?: ConfigReplica
  /** The signal of one call: it fires when the caller is gone. */
  readonly caller?: AbortSignal
  /** Why one call must not be carried out any more although it was taken: its caller is no longer the master. */
  readonly late?: () => string | undefined
}

export interface ConfigReplica {
  /** Resolves when the journal records are durable; rejects when they do not follow what is here. */
  append(records: string): Promise<void>
  replace(config: string, gantry: string): Promise<void>
  /** Lets go of the files; the next call opens them again. */
  close(): Promise<void>
}

/** How the node's daemons are started and stopped is the entry point's business. */
export interface DaemonControl {
  startMaster(noVoting: boolean): Promise<void>
  /** Another node is to be the master: its jobs are ended here, too. */
  stopMaster(): Promise<void>
  /** Somebody says that another node is the master: whether no daemons run as master here, after the votes were asked for again. */
  yieldMaster(): Promise<boolean>
  /** Starts or stops one daemon by its program name; resolves to whether it is in the wanted state. */
  ensure(daemon: string, run: boolean): Promise<boolean>
  /** The ssconf files have changed: starts the daemons that this node should have now, and stops those that it should not. */
  settle(): Promise<void>
  /** The node has left the cluster: ends noded after its answer was sent. */
  leave(): void
}

export type Handler<C extends CallName> = (
  context: NodeContext,
  ...args: ArgsOf<C>
) => ResultOf<C> | Promise<ResultOf<C>>

export type Handlers = { readonly [C in CallName]: Handler<C> }
