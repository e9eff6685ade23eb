// Every bound of a queue, retry, buffer or cache, by name, so that none is hidden in the code that needs it.

// Node calls (rpc/node, daemons/noded)
/** Texts from this length on travel compressed in node calls; Ganeti's daemons use 4096. */
export const COMPRESS_FROM_BYTES = 4096
/** The longest text that a compressed argument of a node call may unpack to. */
export const UPLOAD_BYTES_MAX = 256 << 20
/** The longest body of a node call; longer ones are refused before they are read. */
export const NODE_CALL_BODY_BYTES_MAX = 64 << 20
/** The longest answer that a caller of a node reads. */
export const NODE_ANSWER_BYTES_MAX = 256 << 20
/** Requests for consoles that are made before the event loop serves others. */
export const CONSOLES_AT_ONCE = 50
/** Nodes to which a call to many is sent before the event loop serves others. */
export const NODES_ASKED_AT_ONCE = 12
/** Nodes whose answers are read before the event loop serves others. */
export const NODES_READ_AT_ONCE = 100
/** Nodes whose answers all lists together wait for before they ask more; whoever asks about a few waits for none of these. */
export const LISTS_ASK_AT_ONCE = 32
/** Seconds after which a node that has not answered yet keeps lists from asking the next ones no more. */
export const LISTS_ASK_PATIENCE_S = 0.1
/** Connections to nodes that one process opens at the same time; further calls wait. */
export const NODE_CONNECTIONS_MAX = 256
/** Connections that a node daemon serves at the same time; more are closed at once. */
export const NODED_CONNECTIONS_MAX = 2048
/** Handshakes with a node daemon that are under way, of all and of one address: strangers cannot take the places of masters. */
export const NODED_HANDSHAKES_MAX = 1024
export const NODED_HANDSHAKES_PER_CLIENT_MAX = 256
/** Bytes of a refused body that are read and dropped, and the seconds for that, so that its sender comes to read the answer. */
export const DROPPED_BODY = { bytes: 256 << 20, seconds: 10 } as const
/** Seconds for a caller of a node daemon to show its certificate, and again to send its headers. */
export const NODED_RECEIVE_S = 10
/** So often a job tells that it waits for a guest to stop. */
export const STOP_NEWS_S = 5
/** Seconds to reach a node before the call fails. */
export const NODE_CONNECT_S = 5
/** Seconds that an idle connection to a node is kept. */
export const NODE_KEEP_ALIVE_S = 30
/** Seconds for which a caller remembers that a node answered as Ganeti's noded, and of how many nodes. */
export const NODE_SOFTWARE_S = 60
export const NODE_SOFTWARE_MAX = 10_000
/** An OS image from an address must bring so many bytes in so many seconds; a slower one is given up. */
export const IMAGE_PACE = { bytes: 1 << 20, seconds: 60 } as const
/** Bytes of output that are kept of a hook or OS script. */
export const SCRIPT_OUTPUT_BYTES_MAX = 1 << 20
/** Files below a storage directory that a node lists; with more it refuses. */
export const STORED_FILES_MAX = 200_000
/** Bytes of the file that describes an export. */
export const EXPORT_INFO_BYTES_MAX = 4 << 20
/** Seconds that a hook script may run. */
export const HOOK_SCRIPT_S = 900
/** Seconds that an allocator script may run. Its caller waits longer, so that it hears why there is no answer. */
export const ALLOCATOR_SCRIPT_S = 840
/** Bytes that an allocator script may print. */
export const ALLOCATOR_OUTPUT_BYTES_MAX = 32 << 20
/** Characters that an error shows of what a script of the administrator printed. */
export const TOLD_CHARS_MAX = 2000
/** Seconds after a change until the simulator saves what runs where. */
export const SIM_SAVE_S = 2

/** Lines of a script's log that its failure carries. */
export const OS_LOG_LINES_SHOWN = 20
/** Seconds that a restricted command that is refused takes, so that names cannot be guessed fast. */
export const RESTRICTED_FAILURE_S = 10
/** Seconds from a request to power-cycle a node until it is obeyed: the answer has to leave first. */
export const POWERCYCLE_S = 5
/** Seconds that a node waits for another one when it verifies that they reach each other. */
export const VERIFY_PING_S = 10
/** Bytes of one ssconf file. */
export const SSCONF_BYTES_MAX = 131072
/** Seconds that running calls get to end when the node daemon is stopped. */
export const NODED_CLOSE_S = 2

// Questions to nodes for people and monitors (services)
/** Seconds that a list, a figure or a check waits for a node; after that it goes on with what is known. */
export const LIVE_ANSWER_S = 4
/** Seconds of LIVE_ANSWER_S in which a node that is late must at least tell its version; otherwise it is silent. */
export const NODE_KNOCK_S = 1
/** Seconds between two probes of a silent node. */
export const NODE_PROBE_PAUSE_S = 2
/** Seconds after which a node that nobody asks about, because it left the cluster, is probed no more. */
export const NODE_PROBE_UNWANTED_S = 600
/** Seconds after which a node is looked at again, so that what was last known of it is no older than that, */
export const NODE_LOOK_S = 10
/** and after which one that refused is. */
export const NODE_LOOK_AGAIN_S = 2
/** Looks at nodes in a second: with more nodes than fit, each is looked at less often. */
export const NODE_LOOKS_PER_S = 20
/** Looks that fail are counted in one line of the log for so many seconds. */
export const NODE_LOOK_FAILED_EVERY_S = 60
/** Seconds between two looks at a node of which jobs say that something changed. */
export const NODE_LOOK_SOON_S = 1

// QEMU's monitor (node/hypervisor/kvm)
/** Seconds to connect to a monitor, hear its greeting and agree on the protocol. */
export const QMP_CONNECT_S = 5
/** Seconds until a monitor command must be answered. */
export const QMP_ANSWER_S = 60
/** Seconds for those that only tell how a machine is. */
export const QMP_LOOK_S = 5
/** Seconds for all that is asked of one machine for a list: one whose monitor hangs must not hold up the node's others. */
export const INSTANCE_LOOK_S = 2
/** The longest line that is read from a monitor. */
export const QMP_LINE_BYTES_MAX = 16 << 20
/** Seconds that QEMU may take to set a machine up. */
export const QEMU_START_S = 60
/** Seconds that a killed QEMU may take to be gone. */
export const QEMU_END_S = 30
/** CPUs that a mask names, for all virtual CPUs together. */
export const CPU_MASK_CPUS_MAX = 100_000
/** Bytes of the file with the password of a screen. */
export const SCREEN_PASSWORD_BYTES_MAX = 4096
/** For which the network is asked whether an address is free, and told that it has moved. */
export const ARP_S = 2
/** Logs of OS scripts on one node; the oldest go. */
export const OS_LOGS_MAX = 1000
/** Seconds for which a node keeps leftovers of an instance after the cluster last knew it. */
export const LEFTOVERS_S = 3600
/** Seconds for the switch of a migration: to take over on the target, or to stop on request on the source. */
export const MIGRATION_SWITCH_S = 10
/** Seconds that a guest may take to let go of a device. */
export const UNPLUG_S = 20
/** Seconds between two requests to a guest to shut down. */
export const POWERDOWN_REPEAT_S = 5

// Calls over Unix sockets (rpc/json-protocol, wconfd)
/** Seconds to connect to a daemon's socket. */
export const CALL_CONNECT_S = 10
/** Levels of nesting in a call to luxid, wconfd or a node daemon. */
export const CALL_DEPTH_MAX = 200
/** The longest call that wconfd reads. */
export const WCONFD_FRAME_BYTES_MAX = 64 << 20
/** Bytes that may wait for one slow client or follower of wconfd before it is disconnected. */
export const WCONFD_BUFFER_BYTES_MAX = 256 << 20
/** The longest request of a follower of the configuration. */
export const FOLLOW_FRAME_BYTES_MAX = 4096
/** Connections to wconfd at the same time. */
export const WCONFD_CONNECTIONS_MAX = 4096
/** Seconds until wconfd must have answered a call that does not wait for locks. */
export const WCONFD_ANSWER_S = 60
/** Seconds that a client goes on trying to reach a wconfd that is being restarted. */
export const WCONFD_RECONNECT_S = 60
/** Seconds between two tries to reach a lost wconfd. */
export const WCONFD_RETRY_PAUSE_S = 0.2
/** Seconds between two searches for lock owners that died unnoticed. */
export const LOCK_CLEANUP_S = 30
/** Tries to find a random MAC address or secret that nobody uses. */
export const GENERATE_TRIES_MAX = 64
/** Locks of one request. */
export const LOCK_REQUEST_MAX = 100_000
/** Bytes of locks.data, with states that no longer count, above which it is written anew. */
export const LOCKS_FILE_BYTES_MAX = 1 << 20

// Jobs and luxid
/** Jobs that may wait in the queue; a submission beyond is refused. */
export const JOBS_QUEUED_MAX = 5000
/** Jobs of one user of the remote API that have not ended: the rest of the queue is for others. */
export const JOBS_PER_USER_MAX = 4000
/** Bytes of the opcodes of all jobs that have not ended, which are in memory. */
export const JOBS_BYTES_MAX = 256 << 20
/** Archived jobs of a list, the newest ones: each is a file that is read. */
export const ARCHIVED_LISTED_MAX = 10_000
/** Opcodes of one job. */
export const OPCODES_PER_JOB_MAX = 1000
/** Ids beyond the one that is needed when luxid writes which ids are taken. */
export const JOB_IDS_RESERVED = 50
/** Files of the queue that one group commit writes and replicates. */
export const QUEUE_COMMIT_FILES_MAX = 200
/** Seconds after which what is in the queue's journal reaches the files, which then are written once for all that came in that time. */
export const QUEUE_FOLD_S = 2
/** The same when so much was appended. */
export const QUEUE_JOURNAL_BYTES_MAX = 4 << 20
/**
 * While no more files than this have something in the journal, they are written at once as well, so that programs that read them see a
 * job as it is; they are not durable there yet.
 */
export const QUEUE_SEEN_FILES_MAX = 8
/** Seconds that a commit waits for what other jobs have to write. */
export const QUEUE_GATHER_S = 0.005
/** It does not wait for jobs that have been running for longer. */
export const QUEUE_GATHER_YOUNG_S = 1
/** No job is taken while the disk of the queue has less room than this: those that are taken must be able to end. */
export const QUEUE_ROOM_BYTES_MIN = 256 << 10
/** While the files cannot be written, no more is taken than this. */
export const QUEUE_UNFOLDED_BYTES_MAX = 64 << 20
/** Files of the queue that are longer than this together are sent to candidates one by one. */
export const QUEUE_BATCH_BYTES_MAX = 8 << 20
/** Seconds between two attempts to bring a master candidate's copy of the queue up to date. */
export const QUEUE_CATCH_UP_S = 15
/** Moves to the archive that are remembered for a master candidate that is out of sync. */
export const QUEUE_RENAMES_KEPT_MAX = 20000
/** Jobs after which a job process is replaced by a fresh one. */
export const JOBS_PER_PROCESS_MAX = 1000
/** Idle job processes that are kept for the next jobs. */
export const JOB_PROCESSES_WARM = 3
/** Job processes that are started at the same time; starting one costs as much as many short jobs. */
export const JOB_PROCESSES_STARTING_MAX = 2
/** Seconds that a job waits for a process to become free before another one is started for it. */
export const JOB_PROCESS_PATIENCE_S = 0.25
/** Seconds in which the job processes that there are should be able to take all jobs that wait; else another one is started. */
export const JOB_PROCESS_DRAIN_S = 1
/** Seconds after which the idle job processes beyond those kept warm end. */
export const JOB_PROCESS_IDLE_S = 30
/** Seconds to connect to the socket of a running job. */
export const JOB_CONNECT_S = 10
/** Attempts to start a job's process before the job fails. */
export const JOB_START_ATTEMPTS_MAX = 5
/** Seconds between two attempts to start a job, or to write what became of it. */
export const JOB_RETRY_S = 1
/** Seconds that cancelling a job that waits in its process is waited for. */
export const JOB_CANCEL_WAIT_S = 44
/** The longest time a change of a job is waited for in one call. */
export const JOB_CHANGE_WAIT_S = 89
/** The longest time that a submission waits for the end of its job, and how many may wait at once, of all and of one user. */
export const JOB_PREFER_WAIT_S = 120
export const JOB_PREFER_WAITS_MAX = 100
export const JOB_PREFER_WAITS_PER_USER_MAX = 25
/** Seconds for which handshakes that were refused are told in one line of a daemon's log. */
export const TLS_REFUSED_EVERY_S = 60
/** Seconds that a new job process may take to say that it is there. */
export const JOB_PROCESS_START_S = 60
/** Log entries of one job; what comes after is not kept. */
export const JOB_LOG_ENTRIES_MAX = 20000
/** Seconds between two writes of a job's file that only bring log entries. */
export const JOB_LOG_WRITE_S = 0.2
/** Seconds after which it is told that an opcode runs that changes nothing, when it has not ended until then. */
export const JOB_RUNNING_TOLD_S = 0.05
/** The longest message of a job process about its progress. */
export const JOB_PROGRESS_BYTES_MAX = 256 << 20
/** The jobs that ended last are kept whole in memory: so many, and so much of their files. */
export const ENDED_JOBS_WHOLE_MAX = 500
export const ENDED_JOBS_WHOLE_BYTES_MAX = 4 << 20
/** The longest LUXI request. */
export const LUXI_FRAME_BYTES_MAX = 32 << 20
/** Bytes that may wait for a LUXI client that reads slowly. */
export const LUXI_BUFFERED_BYTES_MAX = 256 << 20
/** LUXI clients on one socket: among them all readers of long lists that the remote API may have. */
export const LUXI_CONNECTIONS_MAX = 2048
/** Seconds that an answer of luxid may take. */
export const LUXI_ANSWER_S = 180
/** Seconds that the command line goes on trying to reach a luxid that is being restarted. */
export const LUXI_RECONNECT_S = 5
/** Seconds between two such tries. */
export const LUXI_RETRY_PAUSE_S = 0.1
/** LUXI connections of one client process; further calls wait. */
export const LUXI_CLIENT_CONNECTIONS_MAX = 256
/** Characters of an answer that may wait until it is known whether there are more. */
export const LUXI_HELD_MAX = 64 << 10
/** Cells of a table that are worked out, written or read before the event loop serves others: some two milliseconds. */
export const CELLS_AT_ONCE = 2500
/** Rows of a table that are found, filtered or given live data before the event loop serves others. */
export const ROWS_AT_ONCE = 500
/** Jobs that are made ready to be shown before the event loop serves others. */
export const JOBS_AT_ONCE = 500
/** Files of jobs that are read at the same time for an answer. */
export const JOB_FILES_READ_AT_ONCE = 50
/** Entries of a list that the remote API writes at once. */
export const ENTRIES_AT_ONCE = 100
/** Idle LUXI connections that a client process keeps. */
export const LUXI_CLIENT_IDLE_MAX = 32

// RAPI
/** The longest body of a request; as in Ganeti 3.1. */
export const RAPI_BODY_BYTES_MAX = 10 << 20
/** Bodies that are longer, or do not tell their length, of which so many are read at the same time, for all and for one user. */
export const RAPI_LONG_BODY_BYTES = 256 << 10
export const RAPI_LONG_BODIES_MAX = 64
export const RAPI_LONG_BODIES_PER_USER_MAX = 16
/** Values in a body, those within others, too: a job of a thousand opcodes has some fifty thousand. */
export const RAPI_BODY_VALUES_MAX = 200_000
/** Levels of nesting in a body. */
export const RAPI_BODY_DEPTH_MAX = 100
/** Request line and headers together. */
export const RAPI_HEADER_BYTES_MAX = 16 << 10
/** Seconds for a client to send its headers, and again to send its body. */
export const RAPI_RECEIVE_S = 10
/** Requests of one connection that wait for the answers to those before them; with more it is closed. */
export const RAPI_PIPELINED_MAX = 100
/** Seconds in which a client that is hung up on may read why. */
export const RAPI_REFUSED_S = 2
/** Seconds that an idle connection is kept. */
export const RAPI_KEEP_ALIVE_S = 15
/** Bytes of an answer that are brought into RAPI's form before the event loop serves others. */
export const RAPI_BYTES_AT_ONCE = 32 << 10
/** An answer that is shorter is sent in one piece. */
export const RAPI_SHORT_BYTES_MAX = 64 << 10
/** Seconds in which the reader of a long answer takes nothing of it, after which it is given up. */
export const RAPI_STALLED_S = 60
/** Seconds that one wait for a job's change may last. */
export const RAPI_JOB_CHANGE_S = 10
/** Seconds of one wait for the end of a job; the request goes on waiting until the client leaves. */
export const RAPI_JOB_RESULT_S = 60
/** Characters of a path in the log of requests. */
export const ACCESS_LOG_PATH_CHARS_MAX = 500
/** Seconds in which requests may finish when the daemon stops. */
export const RAPI_CLOSE_S = 2
/** Connections that are open at the same time; further ones are refused. */
export const RAPI_CONNECTIONS_MAX = 1000
/** Connections of one address, and of this machine, where a proxy may stand for many clients, */
export const RAPI_CONNECTIONS_PER_CLIENT_MAX = 200
export const RAPI_CONNECTIONS_LOOPBACK_MAX = 800
/** and how many more are told so; further ones are closed at once. */
export const RAPI_CONNECTIONS_TOLD = 20
/** Wrong passwords and tokens of one address, and for one user, after which the next ones wait before they are looked at. */
export const LOGIN_FAILURES_FREE = 5
/** Seconds that each of these costs, */
export const LOGIN_DELAY_S_MAX = 3
/** and that one waits at most; when more wait already, it is refused. */
export const LOGIN_WAIT_S_MAX = 10
/** Seconds after which the wrong passwords of an address or for a user are forgotten. */
export const LOGIN_MEMORY_S = 300
/** Logins that are known again without passing through all of the check. */
export const LOGINS_KEPT_MAX = 1000
/** Addresses and users whose wrong passwords are remembered, and users with addresses from which they have logged in. */
export const LOGIN_ADDRESSES_MAX = 10_000
/** Seconds after which whoever was refused with 503 may try again. */
export const RETRY_AFTER_S = 5

// The API of our own
/** Objects on one page, and when the caller does not say how many. */
export const VIEW_PAGE_MAX = 1000
export const VIEW_PAGE_DEFAULT = 100
/** Tokens of all users together, and of one. */
export const TOKENS_MAX = 1000
export const TOKENS_PER_USER_MAX = 200
/** Users whom an error names of those that there are. */
export const USERS_TOLD_MAX = 10
/** Seconds to wait until a token that was written is seen. */
export const TOKEN_SEEN_S = 5
/** Seconds that wconfd gets to tell what it measures. */
export const METRICS_WAIT_S = 3
/** Seconds that a plan can be carried out. */
export const PLAN_S = 15 * 60
/** Plans that are remembered at the same time, of all and of one user; beyond them the oldest are forgotten. */
export const PLANS_MAX = 1000
export const PLANS_PER_USER_MAX = 200
/** Plans that are made at the same time, for all and for one user. */
export const PLANS_RUNNING_MAX = 4
export const PLANS_RUNNING_PER_USER_MAX = 2
/** Seconds that making a plan may take. */
export const PLAN_MAKING_S = 60
/** Objects that a plan may hang on. */
export const PLAN_OBJECTS_MAX = 5000
/** Waits that are skipped for each opcode of a plan. */
export const PLAN_SLEEPS_MAX = 20
/** Bytes of an Idempotency-Key. */
export const IDEMPOTENCY_KEY_BYTES_MAX = 255
/** Seconds that an Idempotency-Key is remembered. */
export const IDEMPOTENCY_S = 24 * 3600
/** Keys of one user that are remembered at the same time; beyond them the oldest of that user are forgotten. */
export const IDEMPOTENCY_KEYS_PER_USER_MAX = 20_000
/** Events that are kept for readers who come back. */
export const EVENTS_KEPT_MAX = 10_000
/** Bytes of these, in memory and in their file, which is written anew when it has twice as many. */
export const EVENTS_BYTES_MAX = 16 << 20
/** Events of one answer. */
export const EVENTS_PAGE_MAX = 500
/** Seconds between two writes of the history of events. */
export const EVENTS_COMMIT_S = 0.05
/** Seconds until a history of events that could not be written is tried again. */
export const EVENTS_RETRY_S = 5
/** Characters of a job's log message in an event. */
export const EVENT_MESSAGE_CHARS_MAX = 4096
/** Objects that an event of a job names, and opcodes that it shows; and characters of a name or a summary in it. */
export const EVENT_PARTS_MAX = 50
export const EVENT_NAME_CHARS_MAX = 255
/** Longest wait for an event in one call. */
export const EVENTS_WAIT_MAX_S = 60
/** Seconds between two signs of life on a stream of events. */
export const EVENT_HEARTBEAT_S = 15
/** Streams of events that are served at the same time, to all and to one user. */
export const EVENT_STREAMS_MAX = 100
export const EVENT_STREAMS_PER_USER_MAX = 25
/** Jobs, the newest ones, whose times are in the metrics. */
export const METRICS_JOBS_MAX = 500
/** Seconds that a reader of events may take to make room for more. */
export const EVENT_STALL_S = 30

/** Seconds until a master candidate that is out of sync is tried again. */
export const CONFIG_CATCH_UP_S = 5
/** Seconds that a candidate may take for a full copy. */
export const CONFIG_COPY_S = 120
/** Bytes of changes kept for a candidate while it gets a full copy; with more the copy begins anew. */
export const CONFIG_BACKLOG_BYTES_MAX = 32 << 20
/** Nodes that are sent ssconf files at the same time. */
export const SSCONF_NODES_AT_ONCE = 30
/** How long the daemon of a node that is to join may take to answer. */
export const NODE_DAEMON_READY_S = 20
/** Seconds that a command on another node over SSH may take; for new keys, and for telling them, tries and seconds of each. */
export const SSH_S = 30
export const SSH_TRIES_MAX = 3
export const SSH_UPDATE_S = 30
/** Seconds that a new key may take; an RSA key is slow. */
export const SSH_GENERATE_S = 120
/** Seconds that the SSH daemon of a node that joins may take to read its new keys. */
export const SSHD_RELOAD_S = 30
/** Nodes that are told about SSH keys at the same time; each costs a process of ssh. */
export const SSH_NODES_AT_ONCE = 10
/** Bytes that a program reads which another node runs over SSH: a list of the keys of all nodes is the largest input. */
export const SSH_INPUT_BYTES_MAX = 4 << 20
/** Seconds until a node that did not take its ssconf files is tried again. */
export const SSCONF_RETRY_S = 30
/** Times that the nodes are asked who is master, before a master daemon gives up. */
export const VOTE_TRIES_MAX = 60
/** Seconds after a step of a new certificate in which connections are still made with what was read before it. */
export const CERTIFICATE_STEP_S = 3
/** Seconds between two votes. */
export const VOTE_PAUSE_S = 1
/** Seconds to wait for one vote. */
export const VOTE_ANSWER_S = 10

// Files that pile up
/** Bytes of a daemon's log, of which there is one before it; and of what is written before its length is looked at. */
export const LOG_FILE = { bytes_max: 64 << 20, unlooked_bytes: 64 << 10 } as const
/** Files that could not be read, or were replaced, and are kept beside what took their place: so many of each. */
export const SET_ASIDE_MAX = 10
/** Jobs that have ended and are not archived; with more, the oldest are archived. */
export const ENDED_JOBS_MAX = 10_000
/** Directories of the archive, of 10000 jobs each; the oldest go. */
export const ARCHIVE_DIRECTORIES_MAX = 20
/** Seconds between two looks at how many jobs there are. */
export const ENDED_JOBS_LOOK_S = 60
/** Bytes of what one OS script says that are kept in its log. */
export const OS_LOG_BYTES_MAX = 16 << 20

// Limits of the system
/** Limits below which a daemon refuses to start; and limits that suffice for all connections and programs that it allows. */
export const SYSTEM_LIMITS = {
  files: { least: 128, enough: 4096 },
  processes: { least: 64, enough: 1024 },
} as const

// Supervised daemons
/** Seconds until the remote API of a virtual cluster tries again to listen on the cluster's address. */
export const CLUSTER_ADDRESS_RETRY_S = 5
/** How long a failover waits for a node, for an old master that has daemons and jobs to end, and for the new one's daemons. */
export const FAILOVER_ANSWER_S = 10
export const FAILOVER_STOP_S = 120
export const FAILOVER_START_S = 300
/** How long a failover waits for the cluster's address to be gone, and to be back. */
export const MASTER_IP_S = 30
export const MASTER_IP_PAUSE_S = 1
/** Seconds for one attempt to reach it. */
export const MASTER_IP_PING_S = 5
/** Seconds in which whoever has the address of a cluster that is to be made must answer. */
export const CLUSTER_IP_PING_S = 5
/** Seconds until a node that believes to be the master, but did not get the votes, asks for them again. */
export const MASTER_RETRY_S = 10
/** Pause before a daemon that died is started again: at first, and at most. */
export const CHILD_BACKOFF_MIN_S = 0.1
export const CHILD_BACKOFF_MAX_S = 10
/** A daemon that ran this long starts with the shortest pause again. */
export const CHILD_HEALTHY_S = 60
/** Half of what V8 may take for new objects, in processes that make few; the others have its own bound. */
export const YOUNG_MIB = { node: 1, job: 2 } as const
/** Seconds that a daemon may take to stop when it is asked to. */
export const DAEMON_STOP_S = 60
/** How long a daemon may take until it can be used. */
export const CHILD_START_S = 120
/** How long a daemon gets to end by itself. */
export const CHILD_STOP_S = 20
/** Virtual nodes of one embedded cluster: their addresses end in 1 to 253. */
export const EMBEDDED_NODES_MAX = 253
/** How long jobs that run may go on when the embedded cluster is stopped, or when another node takes over as master. */
export const JOBS_END_S = 10
/** Seconds that an embedded cluster may take to prepare a node. */
export const NODE_SETUP_S = 60
/** The longest message by which an embedded cluster is asked for a node. */
export const NODE_SETUP_BYTES_MAX = 4096
/** How long a start waits for the guests that it starts again; those that take longer go on starting. */
export const EMBEDDED_RESUME_S = 30
/** How long a start waits for the daemons of a former one, whose parent was killed. */
export const EMBEDDED_PORTS_S = 10
/** How long a guest of the embedded cluster gets to shut down when the cluster is stopped. */
export const EMBEDDED_GUEST_S = 5

// Transfers of disks between nodes
/** Lines that a transfer's status carries. */
export const TRANSFER_OUTPUT_LINES = 20
/** Seconds between two writes of a transfer's progress, and over which its throughput is averaged. */
export const TRANSFER_STATUS_S = 5
export const TRANSFER_THROUGHPUT_S = 60
/** How often an export tries again to connect, after which pause, and how long each try may take. */
export const TRANSFER_CONNECT_RETRIES = 10
export const TRANSFER_CONNECT_PAUSE_S = 1
export const TRANSFER_CONNECT_S = 20
/** How long an import waits for its connection when its caller does not say. */
export const TRANSFER_ACCEPT_S = 60
/** The master looks at running transfers this often: at first, and at most. */
export const TRANSFER_POLL_MIN_S = 0.05
export const TRANSFER_POLL_MAX_S = 5
/** How long the master waits for a transfer's first status, and how long questions about it may fail. */
export const TRANSFER_READY_S = 10
/** Between two lines about a transfer's progress. */
export const TRANSFER_PROGRESS_S = 60
/** Longest validity of a certificate for transfers. */
export const TRANSFER_CERTIFICATE_S_MAX = 7 * 86400

// Operations
/** Seconds of waiting for locks after which the job says who holds them. */
export const LOCK_WAIT_NOTICE_S = 5
/** Seconds in which whoever has the address of an instance must answer. */
export const INSTANCE_IP_PING_S = 10
/** Seconds for a test of the queue to be met, and to be confirmed. */
export const TEST_CONNECT_S = 20
export const TEST_CONFIRM_S = 60
/** Looks at disks that seem degraded, a second apart, before they count as degraded. */
export const DISK_SYNC_DEGRADED_CHECKS = 10
/** Longest pause between two looks at syncing disks. */
export const DISK_SYNC_POLL_MAX_S = 60
/** Failed questions about syncing disks in a row before an operation gives up. */
export const DISK_SYNC_RETRIES = 10
/** Seconds between two looks at a running migration, and between two lines about it. */
export const MIGRATION_POLL_S = 0.2
export const MIGRATION_FEEDBACK_S = 10

// Configuration, queries: used as limits.<name>
export const limits = {
  /** Bytes of journal that force a checkpoint. */
  journal_bytes: 1 << 20,
  /** Longest time between a change and the checkpoint that holds it. */
  checkpoint_s: 1,
  /** How long the end of a job may wait for it. */
  settle_s: 0.1,
  /** Checkpoints that failed half-way which a journal remembers, besides the one that counts. */
  journal_marks: 8,
  /** Objects encoded between two turns of the event loop while a checkpoint is built. */
  checkpoint_slice: 200,
  /** Changes of one group commit; more wait for the next. */
  group_commit_changes: 1000,
  /** Changes that may wait for the disk; more are refused. */
  pending_changes: 10000,
  /** Steps back to an older snapshot before it gets its own copy of a container. */
  snapshot_steps: 512,
  /** How long a change waits for a candidate before that is out of sync. */
  replication_s: 10,
  /** Tags of one object. */
  tags_per_object: 4096,
  /** Characters of a tag. */
  tag_length: 128,
  /** Levels of a query filter. */
  filter_depth: 64,
  /** Conditions of a query filter that is no list of names, and operators that join them. */
  filter_conditions: 2_000,
} as const

// Allocation (allocation)
/** Nodes times instances up to which a step looks at all instances where these are of a few sizes; above, first at those that gained most. */
export const EXHAUSTIVE_TRIALS = 100_000
/** Instances that such a search looks at again for a step because they promise most; steps after which it looks at all. */
export const LAZY_LOOKS = 48
export const LAZY_ROUNDS = 50
/** Who promised less than this part of the best gain is not looked at again. */
export const LAZY_PART = 0.75
/** Sizes of candidates from which on a balance keeps what each of them promises; below, many are alike, and what one gives all give. */
export const PROMISING_SIZES = 16
/** Instances that a step looks at in the order of their promises before it sorts the others. */
export const PROMISING_FIRST = 8
/** Kinds of nodes that a step tells apart: more than ever come up. */
export const NODE_KINDS_MAX = 2 ** 24
/** From so many targets of a move on, those are left out that cannot be better than what was found. */
export const BOUNDED_TARGETS = 16
/** Sizes of instances for which it is kept what they would add to each target. */
export const BOUND_SIZES_MAX = 2_000
/** Instances, or nodes, that are read from the configuration, or handed to a thread, before the event loop serves others. */
export const INSTANCES_AT_ONCE = 250
/** Questions that are thought about at the same time, and that may wait for that. */
export const ALLOCATION_THREADS = 2
export const ALLOCATION_WAITING_MAX = 20
/** Questions of one user, running and waiting together; a further question becomes a job. */
export const ALLOCATION_PER_USER_MAX = 5
/** Seconds that a question to the allocation may be thought about. */
export const ALLOCATION_S = 3600
/** Seconds within which a request is answered; then its question becomes a job. */
export const ALLOCATION_ANSWER_S = 20
/** MiB that thinking about a question may take. */
export const ALLOCATION_MEMORY_MIB = 1024
/** Instances that may arrive in one question. */
export const ARRIVING_MAX = 1000
/** Nodes that a plan of a balance tells of, in all its steps together, when it is to explain itself. */
export const EXPLAINED_CANDIDATES_MAX = 20_000

// Questions to confd (rpc/confd)
/** Seconds until one of the asked master candidates must have answered. */
export const CONFD_ANSWER_S = 10
/** Master candidates that are asked the same. */
export const CONFD_ASKED_MAX = 6
/** From so many nodes on, nodes that are alike are tried once for all of them when a cluster is filled. */
export const ALIKE_FROM_NODES = 64
/** How often an instance is put somewhere to see whether there is room for all that a node has. */
export const OUTLOOK_TRIES = 1000
/** Seconds that a cluster's remote API may take to answer a program of allocation. */
export const HTOOLS_ANSWER_S = 60
/** Bytes that a program may print for a collector. */
export const COLLECTED_OUTPUT_BYTES_MAX = 64 << 20
/** Characters that a collector shows of a text that it cannot read. */
export const UNREAD_CHARS_SHOWN = 1600
/** Bytes of a file that the htools read: a cluster of ten thousand instances takes three MiB. */
export const HTOOLS_FILE_BYTES_MAX = 256 << 20
