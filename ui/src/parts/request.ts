// A request of the console, and the same for scripts.
export interface Request {
  readonly method: string
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  /** The command for the master. */
  readonly gnt: string
}
