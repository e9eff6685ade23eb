// Services: the master's work for its doors, by topic. They combine the configuration, the queue, the query engine and
// the node client; they know no wire and no logical unit.
import type { Clock } from '../lib/clock'
import type { Disk } from '../lib/disk'
import type { Log } from '../lib/log'
import type { Paths } from '../lib/paths'
import type { Random } from '../lib/random'
import type { JobQueue } from '../jobs/queue'
import type { ConfigData, Documents, GantryData } from '../model/config'
import type { LiveData } from '../query/live-data'
import type { WireOpCode } from '../rpc/luxi/calls'
import type { Planned } from '../rpc/luxi/plan'
import type { AskMond } from '../rpc/mond/endpoints'
import type { NodeClient } from '../rpc/node/client'
import type { OpenNodeConsole } from '../rpc/node/consoles'
import type { NodeCache } from './live-data/node-cache'
import type { NodeProber } from './live-data/node-prober'
import type { QueueCopy } from '../rpc/luxi/resources'
import type { Wconfd } from '../rpc/wconfd/calls'
import type { AllocationAccess } from './allocation-access'

export interface MasterContext {
  /** The current snapshot; throws ConfigurationError while there is none. */
  config(): ConfigData
  /** Gantry's own data (gantry.data) of the same snapshot. */
  gantry(): GantryData
  readonly queue: JobQueue
  /** Missing if the queue has no copies. */
  readonly queueCopies?: () => readonly QueueCopy[]
  readonly wconfd: Wconfd
  /** For orders, which may take any time. */
  readonly nodes: NodeClient
  /** For questions of users and monitoring, which do not wait for a node that hangs. */
  readonly questions: NodeProber
  /** Asks the monitoring daemons of nodes. */
  readonly monds: AskMond
  readonly live: LiveData
  /** The last answers of the nodes, for callers that do not wait at all. */
  readonly known: NodeCache
  readonly clock: Clock
  readonly random: Random
  readonly disk: Disk
  readonly paths: Paths
  readonly log: Log
  /** Says what each opcode of a job would do, up to the first one that is impossible. Changes nothing. */
  planJob(ops: readonly WireOpCode[], documents: Documents, nodes: NodeClient): Promise<Planned[]>
  /** Missing if nobody opens consoles. */
  readonly openConsole?: OpenNodeConsole
  /** Missing if nobody asks the allocation. */
  readonly allocation?: AllocationAccess
}
