// What a line of the log has, and what never gets into one.
import { type LogOptions, openLog } from '../../../src/lib/log'

function logged(options: Partial<LogOptions> = {}) {
  const lines: Record<string, unknown>[] = []
  const log = openLog({ write: (line) => void lines.push(JSON.parse(line)), timed: false, ...options })
  return { log, lines }
}

test('a line has the fields of its log, its own, and the message', () => {
  const { log, lines } = logged({ fields: { name: 'confd' } })
  log.child({ job: 7 }).info({ count: 1 }, 'done')
  log.warn('alone')
  expect(lines).toEqual([
    { level: 30, name: 'confd', job: 7, count: 1, msg: 'done' },
    { level: 40, name: 'confd', msg: 'alone' },
  ])
})

test('lines begin with their level and time, and end with a line end', () => {
  const texts: string[] = []
  openLog({ write: (line) => void texts.push(line) }).info('x')
  expect(texts).toEqual([expect.stringMatching(/^{"level":30,"time":"20..-..-..T..:..:..\....Z","msg":"x"}\n$/)])
})

test('what is below the level is not written, and an unknown level is that of daemons', () => {
  const reported = (level: string) => {
    const { log, lines } = logged({ level })
    for (const name of ['debug', 'info', 'warn', 'error'] as const) log[name](name)
    return lines.map(({ msg }) => msg)
  }
  expect(reported('debug')).toEqual(['debug', 'info', 'warn', 'error'])
  expect(reported('error')).toEqual(['error'])
  expect(reported('silent')).toEqual([])
  expect(reported('loud')).toEqual(['info', 'warn', 'error'])
})

test('errors are shown with their stacks, wherever they are', () => {
  const { log, lines } = logged()
  log.error(Object.assign(new TypeError('why'), { code: 'E' }))
  log.error({ err: new Error('outer', { cause: new Error('inner') }) }, 'text')
  expect(lines).toMatchObject([
    { err: { type: 'TypeError', message: 'why', code: 'E', stack: expect.stringContaining('log.test') } },
    { err: { message: 'outer', cause: { type: 'Error', message: 'inner' } }, msg: 'text' },
  ])
})

test('secrets are not written, however deep they are', () => {
  const { log, lines } = logged()
  log.info({ password: 'a', user: { hmac: 'b', more: [{ key: 'c' }] }, monkey: 'd' })
  expect(lines).toEqual([
    { level: 30, password: '<redacted>', user: { hmac: '<redacted>', more: [{ key: '<redacted>' }] }, monkey: 'd' },
  ])
})

test('fields that cannot be written do not hide what happened', () => {
  const { log, lines } = logged()
  const circle: { self?: object } = {}
  circle.self = circle
  log.info({ circle }, 'a circle')
  log.info({ big: 1n }, 'a number')
  const throwing = {
    get bad(): string {
      throw new Error('no value')
    },
  }
  log.info({ throwing }, 'a getter')
  expect(lines).toMatchObject([
    { msg: 'a circle', circle: { self: { self: {} } } },
    { msg: 'a number', big: 1 },
    { msg: 'a getter', fields: 'they cannot be written: Error: no value' },
  ])
})

test('a child keeps no secret, and the level of each line is known to where it is written', () => {
  const levels: number[] = []
  const { log, lines } = logged({ write: (line, level) => void (levels.push(level), lines.push(JSON.parse(line))) })
  log.child({ password: 'a' }).warn('x')
  log.error('y')
  expect(lines).toEqual([
    { level: 40, password: '<redacted>', msg: 'x' },
    { level: 50, msg: 'y' },
  ])
  expect(levels).toEqual([40, 50])
})
