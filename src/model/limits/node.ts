// The work of a node: scripts, images, uploads, logs.

/** An OS image from an address must deliver this many bytes in this many seconds; a slower one is given up. */
export const IMAGE_PACE = { bytes: 1 << 20, seconds: 60 } as const
/** Bytes of a hook's or OS script's output that we keep. */
export const SCRIPT_OUTPUT_BYTES_MAX = 1 << 20
/** Files below a storage directory that a node can list; with more it refuses. */
export const STORED_FILES_MAX = 200_000
/** Bytes of the file that describes an export. */
export const EXPORT_INFO_BYTES_MAX = 4 << 20
/** Bytes of a list of an OS definition, or of a storage provider. */
export const DEFINITION_BYTES_MAX = 1 << 20
/** Seconds that a hook script may run. */
export const HOOK_SCRIPT_S = 900
/** Seconds for a script of an OS that works on disks, and for one that checks parameters. Their callers wait longer. */
export const OS_SCRIPT_S = 86_000
export const OS_VERIFY_S = 240
/** Seconds to pack an OS definition. */
export const OS_PACK_S = 240
/** Seconds for a program that sets up the network, and for a script of the administrator that sets the master's address. */
export const NETWORK_PROGRAM_S = 60
export const MASTER_ADDRESS_SCRIPT_S = 240
/** Seconds to give a device to a user. */
export const CHOWN_S = 30
/** Seconds for an allocator script. Its caller waits longer, so that it learns why there is no answer. */
export const ALLOCATOR_SCRIPT_S = 840
/** Bytes that an allocator script may print. */
export const ALLOCATOR_OUTPUT_BYTES_MAX = 32 << 20
/** Characters of a script's output that an error shows. */
export const TOLD_CHARS_MAX = 2000
/** Seconds after a change until the simulator saves the running instances. */
export const SIM_SAVE_S = 2
/** Lines of a script's log in its error. */
export const OS_LOG_LINES_SHOWN = 20
/** Seconds that a refused restricted command takes, so that names cannot be guessed quickly. */
export const RESTRICTED_FAILURE_S = 10
/** Seconds for a program that the master starts by name: less than the call waits for it. */
export const NAMED_PROGRAM_S = 3500
/**
 * Bytes that such a program may print before it is ended, characters of its output that we report, and bytes of its
 * input.
 */
export const NAMED_PROGRAM_PRINTED_MAX = 16 << 20
export const NAMED_PROGRAM_OUTPUT_MAX = 64 << 10
export const NAMED_PROGRAM_INPUT_MAX = 1 << 20
/** Seconds that such a program waits for another one that runs. */
export const NAMED_PROGRAM_TURN_S = 30
/** Seconds from a request to power-cycle a node until it happens: the answer must leave first. */
export const POWERCYCLE_S = 5
/** Seconds that a node waits for another one when it checks their connection. */
export const VERIFY_PING_S = 10
/** Further files that an administrator may have distributed, and bytes of one of these. */
export const DISTRIBUTED_FILES_MAX = 1000
export const DISTRIBUTED_BYTES_MAX = 1 << 20
/** Bytes of one ssconf file. */
export const SSCONF_BYTES_MAX = 131072
/** Seconds to ask the network whether an address is free, and to announce that it has moved. */
export const ARP_S = 2
/** Logs of OS scripts on one node; the oldest go. */
export const OS_LOGS_MAX = 1000
/** Seconds that a node keeps leftovers of an instance after the cluster last knew it. */
export const LEFTOVERS_S = 3600
/** Bytes of an OS script's output that its log keeps. */
export const OS_LOG_BYTES_MAX = 16 << 20
/** Files with a wrong owner or mode that a node reports. */
export const MISPLACED_TOLD_MAX = 20
/** Seconds until such a file is checked again: a new file gets its owner a moment later. */
export const MISPLACED_AGAIN_S = 0.2
/** Seconds to wait for an answer of Open vSwitch. Without its daemon there is never one. */
export const SWITCH_S = 10
