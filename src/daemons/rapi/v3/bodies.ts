// The bodies of /3 other than opcodes. The interfaces of the controllers describe the same bodies for the document; a test compares the
// two.
import { listOf, orNull } from '../../../lib/shapes/containers'
import { bool, int, json, oneOf, text } from '../../../lib/shapes/leaves'
import { defaulted } from '../../../lib/shapes/objects'
import { refine, type Shape } from '../../../lib/shapes/shape'
import { PRIORITY } from '../../../model/constants/jobs'
import { OPCODES_PER_JOB_MAX } from '../../../model/limits/queue'
import { bodyOf, saying, time } from './body'

const nothing = (): null => null
const none = (): [] => []

const between = (shape: Shape<number>, from: number, to: number): Shape<number> =>
  refine(shape, {}, (value) => value >= from && value <= to, String)

const shortText = refine(text, {}, (input) => input !== '' && input.length <= 128, String)
const LIST = 'must be a list of at most 100 texts'
const texts = saying(listOf(shortText), 'texts of 1 to 128 characters')
const shortList: Shape<readonly string[]> = {
  ...texts,
  parse(value) {
    const fewer = refine(
      saying(listOf(json), LIST),
      {},
      ({ length }) => length <= 100,
      () => LIST,
    )
    return texts.parse(fewer.parse(value))
  },
}

export const tokenBody = bodyOf({
  name: saying(shortText, 'from 1 to 128 characters'),
  expires: defaulted(orNull(time), nothing),
  permissions: shortList,
  tags: defaulted(shortList, none),
  groups: defaulted(shortList, none),
})

const UNTIL_ALONE = 'The body must be an object with `until` alone'
export const pauseBody = bodyOf(
  { until: orNull(time) },
  { whole: UNTIL_ALONE, missing: UNTIL_ALONE, unknown: () => UNTIL_ALONE },
)

const KIND = "must be 'serial' or 'vnc'"
export const ticketBody = bodyOf(
  {
    kind: saying(oneOf('ConsoleKind', ['serial', 'vnc']), KIND),
    read_only: defaulted(saying(bool, 'must be true or false'), () => false),
  },
  { whole: `kind: ${KIND}`, unknown: (name) => `${name}: there is no such parameter, only kind and read_only` },
)

export const filterBody = bodyOf({
  priority: defaulted(saying(between(int, 0, Infinity), 'must be a whole number from 0'), () => 0),
  predicates: defaulted(saying(listOf(json), 'must be a list of [kind, filter]'), none),
  // luxid checks the predicates and the action.
  action: defaulted(json, () => 'CONTINUE'),
  reason: defaulted(saying(orNull(text), 'must be a text'), nothing),
})

export const drainBody = bodyOf(
  { drained: bool },
  { everything: 'The body must be an object with `drained` alone, which is true or false' },
)

const { highest, lowest } = PRIORITY
export const priorityBody = bodyOf(
  { priority: saying(between(int, highest, lowest), `must be a whole number from ${highest} to ${lowest}`) },
  {
    whole: 'The body must be an object with `priority`',
    unknown: (name) => `${name}: only the priority of a job can be changed`,
  },
)

const opcodes = refine(
  saying(listOf(json), 'must be a list of at least one opcode'),
  {},
  ({ length }) => length > 0 && length <= OPCODES_PER_JOB_MAX,
  ({ length }) => (length === 0 ? 'must be a list of at least one opcode' : `more than ${OPCODES_PER_JOB_MAX}`),
)
export const jobBody = bodyOf(
  {
    plan: defaulted(saying(orNull(text), 'must be the id of a plan'), nothing),
    reason: defaulted(saying(orNull(text), 'must be a text'), nothing),
    ops: opcodes,
  },
  { whole: 'The body must be an object with `ops`' },
)
