/**
 * The append failed and could not be taken back either: some or all of it may be in the file, now or after a power cut.
 * Whoever answers for it writes the file anew first.
 */
export class UnsettledAppend extends Error {
  constructor(file: string, cause: unknown) {
    super(`${file}: what was appended may be there or not (${String(cause)})`, { cause })
  }
}
