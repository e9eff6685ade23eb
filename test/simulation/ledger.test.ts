// What the simulation takes for a promise.
import type { WireOpCode } from '../../src/rpc/luxi/calls'
import { type Fact, Ledger } from './ledger'
import { Simulator } from './simulator'

const memoryOf = (name: string, size_mib: number): Fact => ({ kind: 'memory', name, size_mib })
const setMemory: WireOpCode = { OP_ID: 'OP_INSTANCE_SET_PARAMS', instance_name: 'web' }
const remove: WireOpCode = { OP_ID: 'OP_INSTANCE_REMOVE', instance_name: 'web' }
const nothingIsThere = () => false

let ledger: Ledger
beforeEach(() => (ledger = new Ledger(new Simulator(1, false))))

test('what a job has done stays', () => {
  ledger.began(7, 0, setMemory)
  ledger.learn(memoryOf('web', 64), true, 7)
  ledger.check('here', nothingIsThere)
  expect(ledger.complaints).toEqual([expect.stringMatching(/"web".* is lost here$/)])
})

test.each([
  ['the same', setMemory],
  ['the whole instance', remove],
])('a job whose submission was not answered may change %s after a later job', (_, op) => {
  ledger.began(7, 0, setMemory)
  ledger.learn(memoryOf('web', 64), true, 7)
  ledger.began(5, 0, op)
  ledger.check('here', nothingIsThere)
  expect(ledger.complaints).toEqual([])
})

test('also before the user is told of the end of the later job', () => {
  ledger.began(7, 0, setMemory)
  ledger.began(5, 0, setMemory)
  ledger.learn(memoryOf('web', 64), true, 7)
  ledger.check('here', nothingIsThere)
  expect(ledger.complaints).toEqual([])
})

test('no job does anything before it begins', () => {
  ledger.learn(memoryOf('web', 64), true, 7)
  expect(ledger.complaints).toEqual(['job 7 has changed memory:web, and never began'])
})

test('no job begins twice, and none that was refused', () => {
  ledger.wasRefused([{ ...remove, comment: 'first' }])
  ledger.began(5, 0, { ...remove, comment: 'first' })
  ledger.began(6, 0, { ...remove, comment: 'second' })
  ledger.began(6, 0, { ...remove, comment: 'second' })
  expect(ledger.complaints).toEqual(['opcode 5.0 began, and its job was refused', 'opcode 6.0 began twice'])
})
