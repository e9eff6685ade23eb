// Mirrored disks in user space: messages between the two sides, and time limits.

/** Bytes of one message between the sides, and of one request of a guest. */
export const MIRROR_FRAME_BYTES_MAX = 64 << 20
export const NBD_REQUEST_BYTES_MAX = 32 << 20
/** Bytes of a client's options before it opens a disk. */
export const NBD_OPTION_BYTES_MAX = 4096
/** Bytes that are copied at once to a side that lacks them; writes to these blocks wait meanwhile. */
export const MIRROR_BATCH_BYTES = 1 << 20
/** Seconds for the other side to answer when the two connect. */
export const MIRROR_ANSWER_S = 10
/** Milliseconds until a side without an answer tries again. */
export const MIRROR_REDIAL_MS = 200
/** Disks of one node. */
export const MIRRORS_MAX = 256
/** Bytes of a request to the mirror process. */
export const MIRROR_CALL_BYTES_MAX = 64 << 10
/** Seconds for the mirror process to start. */
export const MIRRORS_START_S = 30
/** Seconds that the mirror process waits for its disks before it ends. */
export const MIRRORS_QUIT_S = 20
/** Milliseconds after which a mirror process without disks ends. */
export const MIRRORS_IDLE_MS = 1000
