// Refusals of node call handlers.

/** An answer `[false, text]` that the caller can act on; any other error is a bug and logged with its stack. */
export class NodeFailure extends Error {}

export function fail(text: string): never {
  throw new NodeFailure(text)
}
