// The programs of allocation, such as hbal.

/** Seconds that a cluster's remote API may take to answer a program of allocation. */
export const HTOOLS_ANSWER_S = 60
/** Bytes of a file that the htools read: a cluster of ten thousand instances takes three MiB. */
export const HTOOLS_FILE_BYTES_MAX = 256 << 20
