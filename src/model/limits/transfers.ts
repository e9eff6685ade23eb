// Transfers of disks between nodes.

/** Lines in a transfer's status. */
export const TRANSFER_OUTPUT_LINES = 20
/** Seconds between two writes of a transfer's progress, and over which its throughput is averaged. */
export const TRANSFER_STATUS_S = 5
export const TRANSFER_THROUGHPUT_S = 60
/** An export's attempts to connect, the pause between them, and the time for each. */
export const TRANSFER_CONNECT_RETRIES = 10
export const TRANSFER_CONNECT_PAUSE_S = 1
export const TRANSFER_CONNECT_S = 20
/** Default seconds that an import waits for its connection. */
export const TRANSFER_ACCEPT_S = 60
/** Seconds without any data after which a transfer ends. An OS script may need long for its first byte, and for its last. */
export const TRANSFER_STALL_S = 3600
/** Seconds between the master's checks of running transfers: the first pause, and the longest. */
export const TRANSFER_POLL_MIN_S = 0.05
export const TRANSFER_POLL_MAX_S = 5
/**
 * Seconds that the master waits for a transfer's first status, and for which its checks may fail. A busy node takes
 * more than Ganeti's 10 s.
 */
export const TRANSFER_READY_S = 60
/** Seconds between two lines about a transfer's progress. */
export const TRANSFER_PROGRESS_S = 60
/** Longest validity of a certificate for transfers. */
export const TRANSFER_CERTIFICATE_S_MAX = 7 * 86400
