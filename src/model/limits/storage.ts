// The disks of a node: how long one waits for devices.

/** Seconds for which a device that is to be let go may be held by somebody who only looks at it, as udev looks at each new one. */
export const HELD_DEVICE_S = 30
/** Seconds for which a DRBD device may take to forget its network, to find its other node, and to take options after it got its data. */
export const DISCONNECT_S = 60
export const CONNECT_S = 120
export const OPTIONS_S = 5
/** Seconds for which a node without all data may take to reach the one that has them, when it is to write. */
export const REACHED_S = 10
/** Seconds for which the two nodes of a DRBD device may take to agree on a new size. */
export const RESIZE_S = 60
/** Seconds for which one looks whether a DRBD device talks with its other node, before it is told that it does not. */
export const SYNC_LOOK_S = 15
/** Milliseconds from one look to the next: the pauses grow. */
export const LOOK_PAUSE_MS = { first: 100, longest: 2000 } as const
/** Times that a connection which ended at once is made again: the other node may have been asked a moment later. */
export const RECONNECTS_MAX = 10
/** Bytes that a program which lists volumes or devices may print. */
export const STORAGE_REPORT_BYTES_MAX = 32 << 20
/** Seconds that a script of external storage may run. Its caller waits longer, so that it hears why there is no answer. */
export const EXT_SCRIPT_S = 840
/** Bytes that it may print. */
export const EXT_OUTPUT_BYTES_MAX = 1 << 20
/** Logs of such scripts on one node; the oldest go. */
export const EXT_LOGS_MAX = 1000
/** Seconds for which an image of Ceph may seem in use elsewhere: after some 30 s Ceph forgets a machine that has died. */
export const RBD_WATCH_S = 40
/** Snapshots of one disk that users may have. Each makes writing to a logical volume slower. */
export const SNAPSHOTS_PER_DISK_MAX = 32
/** Characters of a snapshot's name: with that of its volume it is the name of a volume, which LVM lets have 127. */
export const SNAPSHOT_NAME_CHARS_MAX = 64
/** Seconds that a program of Ceph may take to answer a question, and to do what costs more the larger an image is. */
export const RBD_ANSWER_S = 30
export const RBD_REMOVE_S = 840
/** Seconds that a process may take to end which shows a disk as a file. */
export const LENT_DISK_S = 30
