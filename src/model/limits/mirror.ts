// Mirrored disks in user space: what their two sides send each other, and how long one waits for the other.

/** Bytes of one message from side to side, and of one request of a guest. */
export const MIRROR_FRAME_BYTES_MAX = 64 << 20
export const NBD_REQUEST_BYTES_MAX = 32 << 20
/** Bytes of what a client asks for before it opens a disk. */
export const NBD_OPTION_BYTES_MAX = 4096
/** Bytes that are copied at once to a side that lacks them: writes to them wait meanwhile. */
export const MIRROR_BATCH_BYTES = 1 << 20
/** Seconds in which the other side has to answer when the two meet. */
export const MIRROR_ANSWER_S = 10
/** Milliseconds after which a side that nobody answered calls again. */
export const MIRROR_REDIAL_MS = 200
/** Disks of one node. */
export const MIRRORS_MAX = 256
/** Bytes of a request to the process that has the disks. */
export const MIRROR_CALL_BYTES_MAX = 64 << 10
/** Seconds in which that process has to begin. */
export const MIRRORS_START_S = 30
/** Seconds for which it waits for its disks when it is to end. */
export const MIRRORS_QUIT_S = 20
/** Milliseconds after which it ends when it has no disks. */
export const MIRRORS_IDLE_MS = 1000
