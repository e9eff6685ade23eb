import { withoutMarks } from '../../../src/model/marks'

test('trails are shown without marks, also those of opcodes inside opcodes', () => {
  const theirs = [['gnt:user', 'why', 1]]
  const marked = [['gantry:user', 'anna', 1], ['gantry:token', 'ab', 1], ...theirs]
  const op = { OP_ID: 'OP_X', tags: ['gantry:user', 'b', 'c'], reason: marked, instances: [{ reason: marked }] }
  const shown = { ...op, reason: theirs, instances: [{ reason: theirs }] }
  expect(withoutMarks(op)).toEqual(shown)
  expect(withoutMarks(shown)).toBe(shown)
})
