/** A viewer's connection to a running instance. */
export interface ConsoleLine {
  /** Resolves when there is room for more. */
  type(said: Buffer): Promise<void>
  /** Resolves when the instance has closed it. */
  readonly ended: Promise<void>
  close(): void
  /** How much of the kept output its viewer has seen. */
  seen?(): number
}
