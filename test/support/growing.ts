// Every table in memory and every family of files that grows, and its bound. Add a new one here, with its bound; otherwise
// test/tidy.test.ts fails.
import * as ts from 'typescript'

const ONE_WORK = 'lives as long as one request, connection, job process or piece of work'
const NODES = 'one for each node of the cluster; those that have left are forgotten'
const INSTANCES = 'one for each instance of the cluster; those that were removed are forgotten'
const OPEN_JOBS = 'one for each job that has not ended: JOBS_QUEUED_MAX wait, max_running_jobs run'
const ENDED_JOBS = 'a few words for each job that has ended and is not archived: ENDED_JOBS_MAX'
const REGISTERED = 'what the daemon itself registers when it starts'
const LOCK_OWNERS = 'for owners of locks: jobs that run, and connections of wconfd'

/** The fields of each file that grow with time. Weak maps do not count, because entries go with their keys. */
export const GROWING_TABLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'src/node/storage/gluster/volume.ts': { mounting: ONE_WORK },
  'src/node/mirror/link.ts': {
    pieces: 'the pieces of one frame, whose size has a limit',
    waiting: 'requests of guests: NBD_REQUEST_BYTES_MAX for each that QEMU has under way',
    onLost: ONE_WORK,
  },
  'src/node/mirror/handshake.ts': {
    foreign: 'requests under way of the other node, which waits for these before it sends more after a new connection',
  },
  'src/node/mirror/nbd.ts': { chunks: 'NBD_REQUEST_BYTES_MAX, twice' },
  'src/lib/net/reading-room.ts': { held: 'messages that are being read: one for each connection' },
  'src/node/mirror/ranges.ts': { held: 'requests of guests, which QEMU bounds, and one copy' },
  'src/collectors/load/instance-loads.ts': { instances: 'INSTANCES_SEEN_MAX' },
  'src/collectors/history/history.ts': { instances: 'HISTORY_INSTANCES_MAX' },
  'src/collectors/monitor.ts': { watches: 'one for each collector, and PLUGINS_MAX', switches: REGISTERED },
  'src/collectors/plugins.ts': { known: 'PLUGINS_MAX' },
  'src/collectors/load/window.ts': { samples: 'LOAD_SAMPLES_MAX' },
  'src/config/reservation-pool.ts': { clients: LOCK_OWNERS, taken: LOCK_OWNERS },
  'src/config/reservations.ts': {
    minors: 'one for each DRBD disk of the cluster, and what running jobs have reserved',
    nodesOf: 'one for each disk that has reserved minors',
  },
  'src/config/store.ts': { pending: 'PENDING_CHANGES_MAX', listeners: REGISTERED, replicas: REGISTERED },
  'src/config/verify.ts': { conflicts: ONE_WORK, owners: ONE_WORK },
  'src/daemons/confd/server.ts': { answers: 'CONFD_ANSWERS_KEPT, CONFD_KEPT_ANSWER_CHARS each' },
  'src/daemons/metad/instances.ts': { byAddress: 'METAD_INSTANCES_MAX' },
  'src/daemons/metad/relays.ts': { doors: 'METAD_INSTANCES_MAX' },
  'src/daemons/supervisor/supervisor.ts': {
    children: 'one for each daemon of a node',
    missing: 'one for each daemon of a node',
  },
  'src/daemons/supervisor/watcher-timer.ts': { running: 'WATCHER_RUNS_MAX' },
  'src/daemons/rapi/login-throttle.ts': {
    addresses: 'LOGIN_ADDRESSES_MAX',
    users: 'LOGIN_ADDRESSES_MAX',
    familiar: 'LOGIN_ADDRESSES_MAX',
    underWay: 'one for each connection: HTTP_LIMITS.connections',
  },
  'src/daemons/rapi/python-writer.ts': { kept: ONE_WORK },
  'src/daemons/rapi/users.ts': { users: 'one for each line of the users file', shown: 'LOGINS_KEPT_MAX' },
  'src/daemons/rapi/v3/identity.ts': { digests: 'LOGINS_KEPT_MAX' },
  'src/daemons/rapi/v3/sessions.ts': { open: 'SESSIONS_MAX, SESSIONS_PER_USER_MAX each' },
  'src/daemons/rapi/v3/console-tickets.ts': { waiting: 'CONSOLE_TICKETS_MAX, CONSOLE_TICKETS_PER_USER_MAX each' },
  'src/daemons/sim/world.ts': { nodes: NODES, sharedDisks: 'one for each disk of the cluster' },
  'src/daemons/wconfd/lock-keeper.ts': { waiters: LOCK_OWNERS },
  'src/daemons/wconfd/receipts.ts': { owners: `${LOCK_OWNERS}; RECEIPTS_PER_OWNER_MAX each` },
  'src/jobs/ended-jobs.ts': {
    jobs: 'ENDED_JOBS_WHOLE_MAX and ENDED_JOBS_WHOLE_BYTES_MAX',
    NONE: 'nothing is added to it',
  },
  'src/jobs/job-report.ts': { asked: ONE_WORK },
  'src/jobs/job-run.ts': { priorityWatchers: ONE_WORK },
  'src/jobs/pool.ts': { idle: OPEN_JOBS, workers: OPEN_JOBS, waiting: OPEN_JOBS, expected: ONE_WORK },
  'src/jobs/job-listeners.ts': {
    listeners: 'one for each caller who waits: LUXI_CONNECTIONS_MAX',
  },
  'src/jobs/queue.ts': {
    jobs: OPEN_JOBS,
    ended: ENDED_JOBS,
    unpublished: OPEN_JOBS,
    executions: OPEN_JOBS,
    secrets: OPEN_JOBS,
    archiving: ONE_WORK,
    filters: 'one for each filter rule',
  },
  'src/jobs/replicas.ts': { replicas: NODES, leaving: NODES },
  'src/lib/file/small-files.ts': { idle: 'four buffers of 8 KiB', waiting: ONE_WORK },
  'src/jobs/queue-quota.ts': { byUser: OPEN_JOBS, jobs: OPEN_JOBS },
  'src/jobs/scheduler.ts': { entries: OPEN_JOBS, dependents: OPEN_JOBS, unjudged: OPEN_JOBS },
  'src/jobs/store.ts': {
    pending: 'one for each file of the queue that waits to be written',
    folding: 'QUEUE_JOURNAL_BYTES_MAX',
    unfolded: 'QUEUE_JOURNAL_BYTES_MAX',
  },
  'src/lib/clock.ts': { resting: 'one for each long answer that is being made' },
  'src/lib/counted-log.ts': { counts: 'REASONS_MAX of the file' },
  'src/lib/net/connection-limiter.ts': { shaking: 'one for each connection of the server' },
  'src/lib/disk.ts': { directorySyncs: ONE_WORK },
  'src/lib/net/json-socket.ts': {
    chunks: 'the longest frame of the protocol, in the pieces that src/lib/net/fragment-limit.ts allows',
    queue: 'the longest buffer of the protocol',
  },
  'src/lib/work/concurrency-limit.ts': { waiting: 'one for each node and kind of question that lists ask' },
  'src/lib/net/quota.ts': { counts: 'one for each user or address that has a share, which all together are bounded' },
  'src/lib/programs/stuck-programs.ts': {
    all: 'SAME_PROGRAM_MAX of each program that we start, and those that ran when these got stuck',
  },
  'src/lib/work/worker-pool.ts': {
    ...{ idle: 'the size of the pool', all: 'the size of the pool' },
    queue: 'the questions that luxid lets in: ALLOCATION_WAITING_MAX',
  },
  'src/node/consoles/node-consoles.ts': { open: 'NODE_CONSOLES_MAX' },
  'src/node/consoles/serial-lines.ts': {
    open: 'one for each line that is watched: NODE_CONSOLES_MAX',
    outputs: 'SERIAL_LINES_KEPT_MAX that nobody watches, twice SERIAL_KEPT_BYTES each',
    viewers: 'NODE_CONSOLES_MAX',
  },
  'src/node/hypervisor/kvm/devices.ts': { scsiIds: ONE_WORK },
  'src/node/hypervisor/kvm/pci.ts': { slots: ONE_WORK },
  'src/node/hypervisor/kvm/guest-watch.ts': { heard: INSTANCES, news: 'one for each of two folders' },
  'src/node/hypervisor/kvm/migration-relay.ts': { open: 'its server has RELAY_CONNECTIONS_MAX' },
  'src/node/hypervisor/kvm/non-qemu-pids.ts': {
    since_ms: 'one for each process of the machine; those that have ended are forgotten',
  },
  'src/node/hypervisor/kvm/qmp.ts': { pending: ONE_WORK, listeners: ONE_WORK },
  'src/node/storage/drbd/mirror.ts': { noting: ONE_WORK },
  'src/node/storage/ext/driver.ts': { refusals: 'one for each volume that a call asks about' },
  'src/node/storage/rbd/driver.ts': {
    expected: 'one for each pool that a call asks about',
    names: 'one for each pool that a call asks about',
  },
  'src/node/storage/disks.ts': { known: 'one for each disk template' },
  'src/node/storage/lvm/driver.ts': { active: 'one for each disk of a call to the node' },
  'src/node/transfer/status.ts': { samples: 'those of TRANSFER_THROUGHPUT_S' },
  'src/rpc/luxi/client.ts': {
    idle: 'LUXI_CLIENT_IDLE_MAX',
    waiting: 'one for each request that is served: HTTP_LIMITS.connections',
    long: 'one for each method of the protocol',
  },
  'src/rpc/node/client.ts': { ganeti: 'NODE_SOFTWARE_MAX' },
  'src/rpc/confd/silent.ts': { until_ms: 'one for each master candidate; CONFD_SILENT_S' },
  'src/rpc/wconfd/client.ts': { idle: 'those that were needed at once', waiting: ONE_WORK },
  'src/rpc/wconfd/follow-server.ts': { followers: 'WCONFD_CONNECTIONS_MAX' },
  'src/services/consoles/consoles.ts': { sessions: 'CONSOLES_MAX' },
  'src/services/events/event-history.ts': {
    waiting: 'one for each caller who waits: LUXI_CONNECTIONS_MAX',
    kept: 'EVENTS_KEPT_MAX and EVENTS_BYTES_MAX',
    fresh: 'twice EVENTS_KEPT_MAX and EVENTS_BYTES_MAX',
  },
  'src/services/jobs/idempotency.ts': { known: 'IDEMPOTENCY_KEYS_PER_USER_MAX for each user', inFlight: ONE_WORK },
  'src/services/events/instance-watch.ts': { pictures: INSTANCES, touched: INSTANCES, held: OPEN_JOBS },
  'src/services/live-data/guest-ends.ts': { asked: 'GUEST_ENDS_NODES_MAX' },
  'src/services/live-data/cached-answers.ts': { kept: NODES, missed: NODES },
  'src/services/live-data/measures.ts': { kept: NODES, refused: NODES, asking: NODES },
  'src/services/live-data/node-poller.ts': { due: NODES, away: NODES, silent: NODES },
  'src/services/monitoring/node-reports.ts': { asked: NODES },
  'src/services/live-data/node-prober.ts': {
    ...{ silent: NODES, knocks: NODES, waiting: NODES },
    owed: 'one for each node and call of the table',
    returned: REGISTERED,
  },
  'src/services/jobs/plans.ts': { stored: 'PLANS_MAX, PLANS_PER_USER_MAX' },
  'src/replication/replication.ts': { copies: NODES },
  'src/services/live-data/shared.ts': { entries: ONE_WORK },
  'src/replication/ssconf-distribution.ts': { copies: NODES, known: 'forgotten with each change of the configuration' },
  'src/services/watcher/node-returns.ts': { calls: NODES },
  'src/services/watcher/watcher-reports.ts': {
    last: 'one for each node group; those that are gone are forgotten',
    counted: 'one for each kind of outcome',
  },
}

/** Files below the root of a node: the pattern of their paths, and the bound of each family. */
export const GROWING_FILES: readonly (readonly [family: RegExp, bound: string])[] = [
  [/^etc\//, 'settings of the administrator, and hooks'],
  [/^srv\//, 'data of the users: disks, definitions'],
  [/^var\/lib\/ganeti\/config\.data\.backup-\d+$/, 'SET_ASIDE_MAX'],
  [/^var\/lib\/ganeti\/\w[\w.-]*\.rejected-\d+$/, 'SET_ASIDE_MAX'],
  [/^var\/lib\/ganeti\/config\.journal$/, 'CONFIG_JOURNAL_BYTES_MAX, after which there is a checkpoint'],
  [/^var\/lib\/ganeti\/queue\/journal$/, 'QUEUE_JOURNAL_BYTES_MAX'],
  [/^var\/lib\/ganeti\/gantry-events\.data$/, 'twice EVENTS_BYTES_MAX'],
  [/^var\/lib\/ganeti\/locks\.data$/, 'LOCKS_FILE_BYTES_MAX, after which it is written anew'],
  [/^var\/lib\/ganeti\/(config|gantry|tempres)\.data$/, 'what the cluster has; tokens in it: TOKENS_MAX'],
  [/^var\/lib\/ganeti\/ssconf_[\w-]+$/, 'one for each key'],
  [/^var\/lib\/ganeti\/(server|client|rapi|spice|spice-ca)\.pem$/, 'one each'],
  [/^var\/lib\/ganeti\/(hmac\.key|cluster-domain-secret|known_hosts|ganeti_pub_keys|watcher\.pause)$/, 'one each'],
  [
    /^var\/lib\/ganeti\/watcher\.[0-9a-f-]+\.(data|instance-status)$/,
    'one for each node group; the cleaner removes old ones',
  ],
  [/^var\/lib\/ganeti\/gantry-watcher\.data$/, 'WATCHER_REPORT_NAMES_MAX names of each kind for each node group'],
  [/^var\/run\/ganeti\/mond-history\.data$/, 'HISTORY_LOOKS of the node and of HISTORY_INSTANCES_MAX instances'],
  [/^var\/run\/ganeti\/instance-status$/, 'a line for each instance'],
  [/^var\/log\/ganeti\/(master-)?cleaner\//, 'CLEANER_LOGS_MAX'],
  [/^var\/lib\/ganeti\/rapi\/users$/, 'what the administrator writes'],
  [/^var\/lib\/ganeti\/queue\/(serial|version|drain|lock)$/, 'one each'],
  [/^var\/lib\/ganeti\/queue\/job-\d+$/, 'JOBS_QUEUED_MAX and ENDED_JOBS_MAX'],
  [/^var\/lib\/ganeti\/queue\/archive\/\d+\/job-\d+$/, 'ARCHIVE_DIRECTORIES_MAX'],
  [/^var\/lib\/ganeti\/export\//, 'what users export, and remove'],
  [/^var\/lib\/ganeti\/(.*\/)?\..+\.\d+\.\d+\.new$/, 'removed when noded starts: their writers were killed'],
  [/^var\/log\/ganeti\/[\w-]+\.log(\.1)?$/, 'LOG_FILE'],
  [/^var\/log\/ganeti\/os\//, 'OS_LOGS_MAX, OS_LOG_BYTES_MAX each'],
  [/^var\/log\/ganeti\/extstorage\//, 'EXT_LOGS_MAX, EXT_OUTPUT_BYTES_MAX each'],
  [/^var\/log\/ganeti\/kvm\//, 'one for each instance, which QEMU begins anew; swept with the instance'],
  [/^var\/run\/ganeti\/(bdev-cache|instance-reason)\//, 'one for each disk or instance; swept with the instance'],
  [
    /^var\/run\/ganeti\/(instance-disks|lent-disks|kvm-hypervisor|fake-hypervisor|uid-pool|cloud-init)\//,
    'go with the instance',
  ],
  [/^var\/run\/ganeti\/livelocks\//, 'one for each running job; dead ones are removed when luxid starts'],
  [/^var\/run\/ganeti\/socket\//, 'one for each daemon, and METAD_INSTANCES_MAX'],
  [/^var\/run\/ganeti\/metad\//, 'METAD_INSTANCES_MAX; go with the instance, or are swept'],
  [/^var\/run\/ganeti\/(import-export|crypto)\//, 'one for each transfer, removed with it, or by the cleaner'],
  [/^var\/run\/ganeti\/ganeti-watcher\.[0-9a-f-]+\.(next|lock)$/, 'two for each node group'],
  [/^var\/run\/ganeti\/[\w-]+\.(pid|json|figures|lock)$/, 'one for each daemon, and the lock of the configuration'],
  [/^var\/lock\//, 'one each'],
]

/** Fields of classes and tables of modules that are empty at first and can be filled. */
export function growingFields(name: string, text: string): string[] {
  const source = ts.createSourceFile(name, text, ts.ScriptTarget.ES2023, true)
  const found: string[] = []
  const note = (node: ts.PropertyDeclaration | ts.VariableDeclaration) => {
    if (isEmptyTable(node.initializer)) found.push(node.name.getText())
  }
  for (const statement of source.statements) {
    if (ts.isVariableStatement(statement)) statement.declarationList.declarations.forEach(note)
    if (ts.isClassDeclaration(statement)) statement.members.filter(ts.isPropertyDeclaration).forEach(note)
  }
  return found
}

function isEmptyTable(node: ts.Expression | undefined): boolean {
  if (node === undefined) return false
  if (ts.isArrayLiteralExpression(node)) return node.elements.length === 0
  if (!ts.isNewExpression(node) || (node.arguments?.length ?? 0) > 0) return false
  return ['Map', 'Set'].includes(node.expression.getText())
}
