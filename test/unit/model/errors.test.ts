// Errors cross the wire with their class and arguments.
import {
  ConfigVerifyError,
  ECODE,
  errorFromWire,
  errorToWire,
  GanetiError,
  GenericError,
  HooksAbort,
  JobQueueFull,
  LockError,
  OpPrereqError,
  ResolverError,
} from '../../../src/model/errors'

test.each([
  new OpPrereqError('no such thing', ECODE.NOENT),
  new LockError('taken'),
  new JobQueueFull(),
  new ConfigVerifyError('bad', ['one', 'two']),
  new ResolverError('host', -2, 'unknown'),
  new HooksAbort([['node1', 'pre.d/10-x', 'failed']]),
])('%s comes back from the wire as it was', (error) => {
  const again = errorFromWire(JSON.parse(JSON.stringify(error.toWire())))
  expect(again).toBeInstanceOf(error.constructor)
  expect(again.toWire()).toEqual(error.toWire())
  expect(again.message).toBe(error.message)
})

test('the wire form is the class name and the arguments', () => {
  expect(new OpPrereqError('text', ECODE.INVAL).toWire()).toEqual(['OpPrereqError', ['text', 'wrong_input']])
  expect(new JobQueueFull().toWire()).toEqual(['JobQueueFull', []])
  expect(new LockError('x').name).toBe('LockError')
})

test('an unknown error becomes a GenericError that keeps the name', () => {
  expect(errorFromWire(['FutureError', ['boom', 7]]).toWire()).toEqual(['GenericError', ['FutureError: boom, 7']])
  expect(errorFromWire('Failed to parse request').toWire()).toEqual(['GenericError', ['Failed to parse request']])
  expect(errorFromWire(['constructor', []])).toBeInstanceOf(GenericError)
  expect(errorFromWire({ odd: 1 })).toBeInstanceOf(GanetiError)
})

test('a bug shows its message on the wire, never its stack', () => {
  expect(errorToWire(new TypeError('x is undefined'))).toEqual(['GenericError', ['x is undefined']])
  expect(errorToWire(new LockError('taken'))).toEqual(['LockError', ['taken']])
})
