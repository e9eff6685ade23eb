// Collectors of monitoring data.

/** Bytes that a program may print for a collector. */
export const COLLECTED_OUTPUT_BYTES_MAX = 64 << 20
/** Bytes that a self-diagnosis may print: maintd reads no longer answer. */
export const DIAGNOSIS_BYTES_MAX = 512 << 10
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
/** The longest interval of a collector, as a multiple of the shortest, which is configured. */
export const PACE_SPREAD = 12
/** An interval is multiplied by these after a look that found a change, and after one that found none. */
export const PACE_FASTER = 0.5
export const PACE_SLOWER = 1.5
/** The share of the time in which a collector may be at work. */
export const COLLECTING_SHARE = 0.02
/** Seconds after the last question until a collector looks no more, longer than those who ask regularly take. */
export const COLLECTOR_RESTS_S = 300
/** Seconds after which a look is given up. */
export const COLLECT_S = 40
/** The longest report. */
export const REPORT_CHARS_MAX = 16 << 20
/** Questions to confd that a collector has under way at the same time. */
export const CONFD_QUESTIONS_AT_ONCE = 16
/** Bounds of a plugin: its time, its output, and what the output holds. */
export const PLUGIN_S = 5
export const PLUGIN_BYTES_MAX = 1 << 20
export const PLUGIN_VALUES_MAX = 100_000
export const PLUGIN_DEPTH_MAX = 50
export const PLUGINS_MAX = 64
/** Seconds that whoever asks waits for a first look. */
export const REPORT_S = 2
/** Seconds until the folder of plugins is looked at again. */
export const PLUGINS_LOOK_S = 15
/** Seconds in which a daemon of this node has to tell its figures, or is told as one that does not answer. */
export const OWN_FIGURES_S = 1
