// The command line: tables of commands and options, and each command's work through a Master. It knows the cluster only
// by that interface: no file of the cluster is read and no node is called here. Commands that must work without a
// master are in bootstrap/, and get the node on which they run.
import type { Files } from '../lib/files'
import type { Clock } from '../lib/clock'
import type { Disk } from '../lib/disk'
import type { LockFile } from '../lib/file/lock'
import type { Log } from '../lib/log'
import type { Machine } from '../lib/machine'
import type { Paths } from '../lib/paths'
import type { Random } from '../lib/random'
import type { Run } from '../lib/programs/run-command'
import type { FirstFields } from '../model/cluster'
import type { IpVersion } from '../model/ip'
import type { Master } from '../rpc/luxi/master'
import type { NodeClient } from '../rpc/node/client'
import type { InitOptions } from '../bootstrap/init-cluster'
import type { Option } from './input/option'
import type { OptionValues } from './input/option-values'
import type { Terminal } from './output/terminal'
import type { Jobs } from './submit/jobs'

export interface Argument {
  readonly kind: string
  readonly min: number
  readonly max: number
  /** After the first argument all words are arguments, also those that look like options: those of a command for a shell, and tags. */
  readonly verbatim?: boolean
}

export interface Command {
  readonly name: string
  readonly aliases?: readonly string[]
  readonly help: string
  /** The text after the command's name in its usage line. */
  readonly usage: string
  readonly args: readonly Argument[]
  readonly options: readonly Option[]
  /** Shown below its help: words after the command's name. */
  readonly examples?: readonly string[]
  /** Returns the exit code. */
  run(call: Call): Promise<number>
  /** The same answer as data. A command with this method has the options of `DATA_OPTIONS`. */
  data?(call: Call): Promise<unknown>
  /** Whether such data are good; the exit code says so. Without this method they always are. */
  isGood?(data: unknown): boolean
}

export interface Tool {
  /** `gnt-instance` */
  readonly name: string
  readonly commands: readonly Command[]
}

/** One invocation of a command. */
export interface Call {
  readonly tool: string
  readonly command: string
  /** The words are for people, not for scripts that know Ganeti's. */
  readonly plain: boolean
  readonly options: OptionValues
  readonly args: readonly string[]
  readonly master: Master
  readonly jobs: Jobs
  readonly terminal: Terminal
  readonly clock: Clock
  /** If the nodes are virtual ones on this machine, the folder with their roots: programs of a node can run here. */
  readonly nodesRoot: string | undefined
  readonly files: Files
  /** Runs a program and keeps its output. */
  readonly run: Run
  /** Prepares a node to be added, if possible from here. Returns what the job needs to know about it. */
  readonly prepareNode: ((name: string) => Promise<PreparedNode>) | undefined
  /** Rejects if the machine has several virtual nodes and none was named. */
  thisNode(): Promise<ThisNode>
  /** The first node of a new cluster. */
  newNode(): Promise<NewNode>
}

/**
 * The node on which a command runs, for the few that work on its files and its node daemon instead of through the
 * master.
 */
export interface ThisNode {
  readonly paths: Paths
  readonly disk: Disk
  readonly random: Random
  readonly log: Log
  readonly nodes: NodeClient
  readonly lockFile: LockFile
  /** The hypervisors of nodes. */
  readonly hypervisors: readonly string[]
}

/** What `gnt-cluster init` needs on a node that has nothing yet. */
export interface NewNode extends Omit<InitOptions, 'clock'>, Pick<Machine, 'networkInterfaces'> {
  /** Checked settings of a cluster, from parameters of OP_CLUSTER_SET_PARAMS. */
  firstFields(input: Readonly<Record<string, unknown>>, ipVersion: IpVersion): Promise<FirstFields>
}

interface PreparedNode {
  readonly name: string
  readonly address: string
}

export const one = (kind: string): Argument => ({ kind, min: 1, max: 1 })
export const many = (kind: string, min = 0): Argument => ({ kind, min, max: Infinity })
export const verbatim = (kind: string, min = 0): Argument => ({ ...many(kind, min), verbatim: true })
