// Collectors of monitoring data.

/** Bytes that a program may print for a collector. */
export const COLLECTED_OUTPUT_BYTES_MAX = 64 << 20
/** Characters that a collector shows of a text that it cannot read. */
export const UNREAD_CHARS_SHOWN = 1600
/** Seconds over which a load is averaged, and the looks in them: Ganeti's. */
export const LOAD_WINDOW_S = 600
export const LOAD_SAMPLES_MAX = 150
/** Seconds between the first two looks. */
export const LOAD_PAUSE_S = 0.2
/** Seconds that the looks at an instance of Xen are apart, and after which a silent one is forgotten: Ganeti's. */
export const XEN_LOAD_SPAN_S = 100
/** Seconds after which an instance of KVM whose process is gone is forgotten. */
export const KVM_SILENT_S = 1
/** Instances of which a node remembers what they have used. */
export const INSTANCES_SEEN_MAX = 10_000
/** Seconds for which it is told that a daemon was started again. */
export const DAEMON_CALM_S = 600
/** Further starts are not counted. */
export const DAEMON_RESTARTS_COUNTED = 1_000_000
/** Seconds after which the programs of the node are asked for their versions again. */
export const NODE_PROGRAM_VERSIONS_S = 3600
/** Interfaces of a node that are told of. */
export const INTERFACES_TOLD_MAX = 1000
/** Seconds that a program may take for a collector. */
export const COLLECTED_PROGRAM_S = 10
