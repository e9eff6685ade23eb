// The allocation programs, such as hbal.

/** Seconds for a cluster's remote API to answer an allocation program. */
export const HTOOLS_ANSWER_S = 60
/** Bytes of a file that the htools read: a cluster of ten thousand instances takes three MiB. */
export const HTOOLS_FILE_BYTES_MAX = 256 << 20
