import { withoutMarks } from '../../../src/model/marks'

test('trails are shown without marks, also those of opcodes inside opcodes', () => {
  const theirs = [['gnt:user', 'why', 1]]
  const marked = [['gantry:user', 'anna', 1], ['gantry:token', 'ab', 1], ...theirs]
  const ops = [{ OP_ID: 'OP_X', tags: ['gantry:user', 'b', 'c'], reason: marked, instances: [{ reason: marked }] }]
  expect(withoutMarks(ops)).toEqual([{ ...ops[0], reason: theirs, instances: [{ reason: theirs }] }])
})
