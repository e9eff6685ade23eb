// What the controllers of the double get.
import type { Reply } from '../../../../src/http/json-api'

/** The context of the controllers of the double. */
export interface DoubleContext {
  readonly caller: string
  readonly reply: Reply
}
