// The command line: tables of commands and options, and what each command does through a Master. It knows the cluster only by that
// interface: no file of the cluster is read and no node is called here. What must work without a master is in bootstrap/, and gets
// the node on which the command runs.
import type { Files } from '../lib/files'
import type { Clock } from '../lib/clock'
import type { Disk } from '../lib/disk'
import type { LockFile } from '../lib/file-lock'
import type { Log } from '../lib/log'
import type { Paths } from '../lib/paths'
import type { Random } from '../lib/random'
import type { Run } from '../lib/run-command'
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
}

export interface Command {
  readonly name: string
  readonly aliases?: readonly string[]
  readonly help: string
  /** The text after the command's name in its usage line. */
  readonly usage: string
  readonly args: readonly Argument[]
  readonly options: readonly Option[]
  /** Shown below its help: the words after the command's name. */
  readonly examples?: readonly string[]
  /** Returns the exit code. */
  run(call: Call): Promise<number>
  /** The same answer as data for programs. A command with this method has the options of `DATA_OPTIONS`. */
  data?(call: Call): Promise<unknown>
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
  readonly options: OptionValues
  readonly args: readonly string[]
  readonly master: Master
  readonly jobs: Jobs
  readonly terminal: Terminal
  readonly clock: Clock
  /** Where the nodes are virtual ones on this machine, the folder with their roots: what runs on a node can be run here. */
  readonly nodesRoot: string | undefined
  readonly files: Files
  /** Starts a program; its output is kept. */
  readonly run: Run
  /** Makes a node ready to be added, where this can be done from here; answers what the job needs to know of it. */
  readonly prepareNode: ((name: string) => Promise<PreparedNode>) | undefined
  /** Rejects where the machine has several virtual nodes and none was named. */
  thisNode(): Promise<ThisNode>
  /** The node that is to be the first one of a cluster. */
  newNode(): Promise<NewNode>
}

/** The node on which a command runs, for the few that work on its files and its node daemon, and not through the master. */
export interface ThisNode {
  readonly paths: Paths
  readonly disk: Disk
  readonly random: Random
  readonly log: Log
  readonly nodes: NodeClient
  readonly lockFile: LockFile
  /** The hypervisors that nodes have. */
  readonly hypervisors: readonly string[]
}

/** The things that `gnt-cluster init` needs on a node that has nothing yet. */
export interface NewNode extends Omit<InitOptions, 'clock'> {
  /** Settings of a cluster, checked, from parameters of OP_CLUSTER_SET_PARAMS. */
  firstFields(given: Readonly<Record<string, unknown>>, ipVersion: IpVersion): Promise<FirstFields>
}

export interface PreparedNode {
  readonly name: string
  readonly address: string
}

export const one = (kind: string): Argument => ({ kind, min: 1, max: 1 })
export const many = (kind: string, min = 0): Argument => ({ kind, min, max: Infinity })
