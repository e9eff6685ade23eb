// The disks of a node: how long one waits for devices.

/** Seconds for which a device that is to be let go may be held by somebody who only looks at it, as udev looks at each new one. */
export const HELD_DEVICE_S = 30
/** Milliseconds from one look to the next: the pauses grow. */
export const LOOK_PAUSE_MS = { first: 100, longest: 2000 } as const
/** Bytes that a program which lists volumes or devices may print. */
export const STORAGE_REPORT_BYTES_MAX = 32 << 20
