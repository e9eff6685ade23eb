// The work of a node: scripts, images, uploads, logs.

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
/** Seconds that a program which the master may start by its name may take: less than the call waits for it. */
export const NAMED_PROGRAM_S = 3500
/** Bytes that it may print before it is ended, characters of its output that are told, and bytes of its input. */
export const NAMED_PROGRAM_PRINTED_MAX = 16 << 20
export const NAMED_PROGRAM_OUTPUT_MAX = 64 << 10
export const NAMED_PROGRAM_INPUT_MAX = 1 << 20
/** Seconds that one waits for another that runs. */
export const NAMED_PROGRAM_TURN_S = 30
/** Seconds from a request to power-cycle a node until it is obeyed: the answer has to leave first. */
export const POWERCYCLE_S = 5
/** Seconds that a node waits for another one when it verifies that they reach each other. */
export const VERIFY_PING_S = 10
/** Bytes of one ssconf file. */
export const SSCONF_BYTES_MAX = 131072
/** For which the network is asked whether an address is free, and told that it has moved. */
export const ARP_S = 2
/** Logs of OS scripts on one node; the oldest go. */
export const OS_LOGS_MAX = 1000
/** Seconds for which a node keeps leftovers of an instance after the cluster last knew it. */
export const LEFTOVERS_S = 3600
/** Bytes of what one OS script says that are kept in its log. */
export const OS_LOG_BYTES_MAX = 16 << 20
/** Files with a wrong owner or mode that a node tells. */
export const MISPLACED_TOLD_MAX = 20
/** After which a file is looked at again: one that was just made gets its owner right away. */
export const MISPLACED_AGAIN_S = 0.2
/** For which a switch of Open vSwitch is waited for when it is asked about a port; without its daemon there is never an answer. */
export const SWITCH_S = 10
