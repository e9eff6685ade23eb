// Collectors of monitoring data.

/** Bytes that a program may print for a collector. */
export const COLLECTED_OUTPUT_BYTES_MAX = 64 << 20
/** Bytes that a self-diagnosis may print: maintd reads no longer answers. */
export const DIAGNOSIS_BYTES_MAX = 512 << 10
/** Characters of an unreadable text that a collector shows. */
export const UNREAD_CHARS_SHOWN = 1600
/** Seconds over which a load is averaged, and the number of measurements in them, as in Ganeti. */
export const LOAD_WINDOW_S = 600
export const LOAD_SAMPLES_MAX = 150
/** Seconds between the first two measurements. */
export const LOAD_PAUSE_S = 0.2
/** Seconds between measurements of a Xen instance, and seconds after which a silent one is forgotten, as in Ganeti. */
export const XEN_LOAD_SPAN_S = 100
/** Seconds after which a KVM instance without a process is forgotten. */
export const KVM_SILENT_S = 1
/** Instances whose past usage a node remembers. */
export const INSTANCES_SEEN_MAX = 10_000
/** Seconds for which a restart of a daemon is reported. */
export const DAEMON_CALM_S = 600
/** Seconds that a daemon which was never seen has to start, after mond has. */
export const DAEMON_START_S = 30
/** The largest count of restarts. */
export const DAEMON_RESTARTS_COUNTED = 1_000_000
/** Seconds after which the node's programs are asked for their versions again. */
export const NODE_PROGRAM_VERSIONS_S = 3600
/** Interfaces of a node that are reported. */
export const INTERFACES_TOLD_MAX = 1000
/** Seconds for a collector's program. */
export const COLLECTED_PROGRAM_S = 10
/** A collector's longest interval, as a multiple of the configured shortest one. */
export const PACE_SPREAD = 12
/** The interval is multiplied by the first number after a change, and by the second without one. */
export const PACE_FASTER = 0.5
export const PACE_SLOWER = 1.5
/** The share of time that a collector may work. */
export const COLLECTING_SHARE = 0.02
/** Seconds after the last request until a collector pauses; longer than the interval of regular clients. */
export const COLLECTOR_RESTS_S = 300
/** Seconds after which a collection is given up. */
export const COLLECT_S = 40
/** The longest report. */
export const REPORT_CHARS_MAX = 16 << 20
/** Questions to confd that a collector may have open at the same time. */
export const CONFD_QUESTIONS_AT_ONCE = 16
/** Bounds of a plugin: its time, its output, and the contents of the output. */
export const PLUGIN_S = 5
export const PLUGIN_BYTES_MAX = 1 << 20
export const PLUGIN_VALUES_MAX = 100_000
export const PLUGIN_DEPTH_MAX = 50
export const PLUGINS_MAX = 64
/** Seconds that a request waits for a collector's first result. */
export const REPORT_S = 2
/** Seconds between two checks of the folder of plugins. */
export const PLUGINS_LOOK_S = 15
/** Seconds for a daemon of this node to return its figures; a slower one is reported as silent. */
export const OWN_FIGURES_S = 1
