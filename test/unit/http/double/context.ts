import type { Reply } from '../../../../src/http/json-api'

/** What the controllers of the double get. */
export interface DoubleContext {
  readonly caller: string
  readonly reply: Reply
}
