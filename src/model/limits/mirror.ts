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
/** Seconds between two looks at the connection, each of which may send a ping, and the looks without a sign of life that end it. */
export const MIRROR_LOOK_S = 1
export const MIRROR_SILENT_LOOKS = 4
/** Seconds for the other side to answer a request. A range takes longer, by its size. Disks of DRBD have 7 times 6 seconds. */
export const MIRROR_REQUEST_S = 42
export const MIRROR_SLOWEST_BYTES_S = 16 << 20
/** Seconds for the other side to bring to its disk whatever it has not yet. */
export const MIRROR_FLUSH_S = 120
/** Milliseconds until a side without an answer tries again. */
export const MIRROR_REDIAL_MS = 200
/** Disks of one node. */
export const MIRRORS_MAX = 256
/** Bytes of a request to the mirror process. */
export const MIRROR_CALL_BYTES_MAX = 64 << 10
/** Seconds for the mirror process to tell how its disks are. It does not wait for them. */
export const MIRROR_LIST_S = 4
/** Seconds for it to change a disk, which may first wait for the other node's answers. */
export const MIRROR_CALL_S = 300
/** Seconds for the other node to get all that was written to a disk that was lent. */
export const MIRROR_GIVE_BACK_S = 24 * 3600
/** Seconds between two looks, meanwhile, at whether the process still answers, and seconds for its answer. */
export const MIRROR_ALIVE_S = 30
/** Seconds for the mirror process to start. */
export const MIRRORS_START_S = 30
/** Seconds that the mirror process waits for its disks before it ends. */
export const MIRRORS_QUIT_S = 20
/** Milliseconds after which a mirror process without disks ends. */
export const MIRRORS_IDLE_MS = 1000
