// The disks of a node: time limits for devices.

/** Seconds for which a released device may be held by a reader, such as udev, which looks at each new device. */
export const HELD_DEVICE_S = 30
/**
 * Seconds for a DRBD device to forget its network, to find its other node, and to take options after it got its data.
 */
export const DISCONNECT_S = 60
export const CONNECT_S = 120
export const OPTIONS_S = 5
/** Seconds for a node with incomplete data to reach the node with all data, when it is to write. */
export const REACHED_S = 10
/** Seconds for which a node with all data looks for the other node, which may have newer data, before it writes. */
export const MET_S = 3
/** Seconds for both nodes of a DRBD device to agree on a new size. */
export const RESIZE_S = 60
/** Seconds for which we check whether a DRBD device is connected, before we report that it is not. */
export const SYNC_LOOK_S = 15
/** Milliseconds between two checks: the pauses grow. */
export const LOOK_PAUSE_MS = { first: 100, longest: 2000 } as const
/** Attempts to reconnect when a connection ends at once: the other node may have been asked a moment later. */
export const RECONNECTS_MAX = 10
/** Bytes that a program may print when it lists volumes or devices. */
export const STORAGE_REPORT_BYTES_MAX = 32 << 20
/** Images of a pool that a node asks for one by one; for more it lists the names of all of them. */
export const IMAGES_ASKED_SINGLY_MAX = 4
/** Disks that a node checks at the same time: each may cost a program. */
export const DISKS_AT_ONCE = 8
/** Seconds for all external storage scripts of a call. Its caller waits longer, so that it learns why there is no answer. */
export const EXT_SCRIPT_S = 840
/** Bytes that such a script may print. */
export const EXT_OUTPUT_BYTES_MAX = 1 << 20
/** Logs of such scripts on one node; the oldest go. */
export const EXT_LOGS_MAX = 1000
/** Seconds for which a Ceph image may seem in use elsewhere: Ceph forgets a dead machine after some 30 s. */
export const RBD_WATCH_S = 40
/** User snapshots of one disk. Each makes writing to a logical volume slower. */
export const SNAPSHOTS_PER_DISK_MAX = 32
/**
 * Characters of a snapshot's name. Together with its volume's name it makes the name of a volume, for which LVM allows
 * 127.
 */
export const SNAPSHOT_NAME_CHARS_MAX = 64
/**
 * Seconds for a program of LVM, DRBD or util-linux: to answer a question, and to carry out an order. Callers of most
 * orders wait longer, so that they learn why there is no answer.
 */
export const DEVICE_ANSWER_S = 240
export const DEVICE_ORDER_S = 840
/** Seconds to add up the files of a directory. */
export const DIRECTORY_SIZE_S = 240
/** Seconds to give the space of a range of a file back to its file system. */
export const PUNCH_HOLE_S = 300
/** Seconds for a Ceph program to answer a question, and for work that depends on the size of an image. */
export const RBD_ANSWER_S = 30
export const RBD_REMOVE_S = 840
/** Seconds for the end of a process that shows a disk as a file. */
export const LENT_DISK_S = 30
