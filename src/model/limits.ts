// Every bound of a queue, retry, buffer or cache, by name, so that none is hidden in the code that needs it.

// Node calls (rpc/node, daemons/noded)
/** Texts from this length on travel compressed in node calls; Ganeti's daemons use 4096. */
export const COMPRESS_FROM_BYTES = 4096
/** The longest text that a compressed argument of a node call may unpack to. */
export const UPLOAD_BYTES_MAX = 256 << 20
/** The longest body of a node call; longer ones are refused before they are read. */
export const NODE_CALL_BODY_BYTES_MAX = 256 << 20
/** The longest answer that a caller of a node reads. */
export const NODE_ANSWER_BYTES_MAX = 256 << 20
/** Connections to nodes that one process opens at the same time; further calls wait. */
export const NODE_CONNECTIONS_MAX = 256
/** Seconds to reach a node before the call fails. */
export const NODE_CONNECT_S = 5
/** Seconds that an idle connection to a node is kept. */
export const NODE_KEEP_ALIVE_S = 30
/** Bytes of output that are kept of a hook or OS script. */
export const SCRIPT_OUTPUT_BYTES_MAX = 1 << 20
/** Seconds that a hook script may run. */
export const HOOK_SCRIPT_S = 900

// QEMU's monitor (node/hypervisor/kvm)
/** Seconds to connect to a monitor and hear its greeting. */
export const QMP_CONNECT_S = 5
/** Seconds until a monitor command must be answered. */
export const QMP_ANSWER_S = 60
/** The longest line that is read from a monitor. */
export const QMP_LINE_BYTES_MAX = 16 << 20

// Operations
/** Seconds of waiting for locks after which the job says who holds them. */
export const LOCK_WAIT_NOTICE_S = 5

// Configuration, queries: used as limits.<name>
export const limits = {
  /** Bytes of journal that force a checkpoint. */
  journal_bytes: 1 << 20,
  /** Longest time between a change and the checkpoint that holds it. */
  checkpoint_s: 1,
  /** Objects encoded between two turns of the event loop while a checkpoint is built. */
  checkpoint_slice: 200,
  /** Changes of one group commit; more wait for the next. */
  group_commit_changes: 1000,
  /** Steps back to an older snapshot before it gets its own copy of a container. */
  snapshot_steps: 64,
  /** How long a change waits for a candidate before that is out of sync. */
  replication_s: 10,
  /** Tags of one object. */
  tags_per_object: 4096,
  /** Characters of a tag. */
  tag_length: 128,
  /** Levels of a query filter. */
  filter_depth: 64,
  /** Characters of a regular expression in a query filter. */
  filter_regex_chars: 1024,
} as const
