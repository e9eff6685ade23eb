// Tests below test/unit start no process, so they are fast, and other work on the machine does not affect them. Jest reads this file before
// each test file. What it cannot notice, test/tidy.test.ts refuses.
import type { ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'

if (/\/test\/unit\//.test(expect.getState().testPath ?? '')) {
  const created: ChildProcess[] = []
  const note = (message: unknown) => void created.push((message as { process: ChildProcess }).process)
  beforeAll(() => subscribe('child_process', note))
  afterAll(() => {
    unsubscribe('child_process', note)
    const hint = 'a file whose tests start processes belongs below test/processes'
    // A program that does not exist has no process.
    const started = created.filter(({ pid }) => pid !== undefined).map(({ spawnfile }) => spawnfile)
    expect({ hint, started }).toEqual({ hint, started: [] })
  })
}
