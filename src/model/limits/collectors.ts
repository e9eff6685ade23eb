// Collectors of monitoring data.

/** Bytes that a program may print for a collector. */
export const COLLECTED_OUTPUT_BYTES_MAX = 64 << 20
/** Characters that a collector shows of a text that it cannot read. */
export const UNREAD_CHARS_SHOWN = 1600
