// Transfers of disks between nodes.

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
/** How long the master waits for a transfer's first status, and how long questions about it may fail. A busy node takes more than Ganeti's 10 s. */
export const TRANSFER_READY_S = 60
/** Between two lines about a transfer's progress. */
export const TRANSFER_PROGRESS_S = 60
/** Longest validity of a certificate for transfers. */
export const TRANSFER_CERTIFICATE_S_MAX = 7 * 86400
