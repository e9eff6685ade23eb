// A daemon that loses nothing ends after a defect; the others go on where Node can.
import { EventEmitter } from 'node:events'
import { watchDefects } from '../../../src/start/defects'

function daemon(losesNothing: boolean) {
  const process = new EventEmitter()
  const log = { error: jest.fn() }
  const end = jest.fn()
  watchDefects({ process: process as unknown as NodeJS.Process, log, losesNothing, end })
  return { process, log, end }
}

test.each([
  ['a rejected promise ends a daemon that loses nothing', true, 'unhandledRejection', 1],
  ['a rejected promise is logged by the others', false, 'unhandledRejection', 0],
  ['an exception ends a daemon that loses nothing', true, 'uncaughtException', 1],
  ['an exception ends the others, too: nobody knows what was not done', false, 'uncaughtException', 1],
])('%s', (_, losesNothing, event, ends) => {
  const { process, log, end } = daemon(losesNothing)
  const error = new Error('a defect')
  process.emit(event, error)
  expect(end).toHaveBeenCalledTimes(ends)
  expect(log.error).toHaveBeenCalledWith({ err: error }, expect.any(String))
})
