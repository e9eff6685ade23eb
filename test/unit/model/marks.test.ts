// Notes in reason trails are shown to nobody whom they do not concern.
import { withoutInternalMarks, withoutMarks } from '../../../src/model/marks'

test('trails are shown without marks, also those of opcodes inside opcodes', () => {
  const theirs = [['gnt:user', 'why', 1]]
  const marked = [['gantry:user', 'anna', 1], ['gantry:token', 'ab', 1], ...theirs]
  const op = { OP_ID: 'OP_X', tags: ['gantry:user', 'b', 'c'], reason: marked, instances: [{ reason: marked }] }
  const displayed = { ...op, reason: theirs, instances: [{ reason: theirs }] }
  expect(withoutMarks(op)).toEqual(displayed)
  expect(withoutMarks(displayed)).toBe(displayed)
})

test('our own doors show who submitted a job, and nothing of what the master notes for itself', () => {
  const who = [
    ['gantry:user', 'anna', 1],
    ['gantry:token', 'ab', 1],
  ]
  const internal = [
    ['gantry:key', 'digests', 1],
    ['gantry:match', '[]', 1],
    ['gantry:scope', '{}', 1],
    ['gantry:rights', '{}', 1],
    ['gantry:key', 'x'],
  ]
  const op = { OP_ID: 'OP_X', reason: [...who, ...internal], instances: [{ reason: internal }] }
  expect(withoutInternalMarks(op)).toEqual({ OP_ID: 'OP_X', reason: who, instances: [{ reason: [] }] })
})
