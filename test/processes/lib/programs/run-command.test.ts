// Programs are run to their end, however badly they behave.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { runBounded, runCommand } from '../../../../src/lib/programs/run-command'
import { eventually } from '../../../unit/daemons/wconfd/support'

test('a program that cannot be started, or not with what it is given, has an exit code and says why', async () => {
  const missing = await runCommand(['/no/such/program'], { timeout_s: 60 })
  expect([missing.code, missing.output]).toEqual([127, expect.stringContaining('ENOENT')])
  const argument = await runCommand(['/bin/true', 'a\0b'], { timeout_s: 60 })
  expect([argument.code, argument.output]).toEqual([127, expect.stringContaining('without null bytes')])
  const variable = await runCommand(['/bin/true'], { env: { NAME: 'a\0b' }, timeout_s: 60 })
  expect([variable.code, variable.output]).toEqual([127, expect.stringContaining('without null bytes')])
})

test('a program that prints for ever is ended with its whole group, and its output is bounded', async () => {
  const ran = await runBounded(runCommand, ['/bin/sh', '-c', 'sleep 987 & echo $!; yes'], {
    timeout_s: 60,
    printed_max: 1e5,
    maxOutput: 1e6,
  })
  expect(ran).toMatchObject({ printedTooMuch: true, code: null, timedOut: false })
  const pid = Number.parseInt(ran.stdout)
  await eventually(() => expect(isRunning(pid)).toBe(false))
})

test('a process that has left the group, and holds the output, is not waited for', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-run-'))
  const file = path.join(folder, 'pid')
  const program = `echo told; setsid sh -c 'echo $$ > ${file}; exec sleep 987' & while ! test -s ${file}; do :; done`
  try {
    const ran = await runBounded(runCommand, ['/bin/sh', '-c', program], { timeout_s: 60, printed_max: 1e5 })
    expect(ran).toMatchObject({ printedTooMuch: false, code: 0, stdout: 'told\n' })
  } finally {
    process.kill(Number(fs.readFileSync(file, 'utf8')))
    fs.rmSync(folder, { recursive: true })
  }
})

/** What has ended and waits for its parent to notice does not count. */
function isRunning(pid: number): boolean {
  try {
    return fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[2] !== 'Z'
  } catch {
    return false
  }
}
