// What a program has started is found by its environment, over a list of processes that follows the signals.
import { endMarked, MARK_VARIABLE } from '../../../../src/lib/programs/marked-processes'
import type { Machine } from '../../../../src/lib/machine'

const MARK = 'one-mark'
const environ = (mark: string, name = MARK_VARIABLE) => `PATH=/bin\0${name}=${mark}\0LANG=C\0`

/** Processes by number; an environment that nobody may read is missing. `dies`: what becomes of the list when one is killed. */
function machine(running: Map<string, string | undefined>, dies: (pid: string) => void) {
  const killed: number[] = []
  const pauses: number[] = []
  const files = {
    readdir: () => Promise.resolve(['self', 'meminfo', ...running.keys()]),
    readFile: (file: string) => {
      const text = running.get(file.split('/')[2] ?? '')
      return text === undefined ? Promise.reject(new Error('EACCES')) : Promise.resolve(text)
    },
  } as unknown as Machine['files']
  const signal = (pid: number) => {
    killed.push(pid)
    dies(String(pid))
    return true
  }
  const processes = { signal } as unknown as Machine['processes']
  const clock = { sleep: (ms: number) => Promise.resolve(void pauses.push(ms)) }
  return { killed, pauses, end: () => endMarked({ files, processes }, clock, MARK) }
}

test('those with the mark end, and nobody else', async () => {
  const running = new Map([
    ['1', undefined],
    ['7', environ(MARK)],
    ['8', environ('another')],
    ['9', environ(MARK, `OTHER_${MARK_VARIABLE}`)],
    ['10', environ(`${MARK}-and-more`)],
    ['11', `A=1\0${MARK_VARIABLE}=${MARK}`],
  ])
  const { end, killed } = machine(running, (pid) => running.delete(pid))
  expect(await end()).toEqual([])
  expect(killed).toEqual([7, 11])
})

test('what was started in the middle of it ends, too', async () => {
  let next = 20
  const running = new Map([['7', environ(MARK)]])
  const { end, killed } = machine(running, (pid) => {
    running.delete(pid)
    if (next < 23) running.set(String(next++), environ(MARK))
  })
  expect(await end()).toEqual([])
  expect(killed).toEqual([7, 20, 21, 22])
})

test('one that cannot be ended is told, after a time that is bounded', async () => {
  const { end, pauses } = machine(new Map([['7', environ(MARK)]]), () => undefined)
  expect(await end()).toEqual([7])
  expect(pauses.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(10_000)
})
