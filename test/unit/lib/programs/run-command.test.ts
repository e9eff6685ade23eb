// What a program is given, and what its caller hears, when it does not end.
import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { commandRunner, type CommandParts } from '../../../../src/lib/programs/run-command'
import { SteppedClock } from '../../../support/stepped-clock'

class Child extends EventEmitter {
  readonly stdin = new PassThrough()
  readonly stdout = new PassThrough()
  readonly stderr = new PassThrough()
  readonly unref = jest.fn()
  constructor(readonly pid: number) {
    super()
  }

  end(): void {
    this.emit('exit', null, 'SIGKILL')
    this.emit('close', null, 'SIGKILL')
  }
}

/** A machine whose programs end when the test says so. A killed one ends at once, unless it waits in the kernel. */
function machine({ inKernel }: { inKernel: boolean }) {
  const clock = new SteppedClock()
  const children: Child[] = []
  const spawn = () => {
    const child = new Child(1000 + children.length)
    children.push(child)
    return child
  }
  const kill = jest.fn((pid: number) => {
    if (!inKernel) setImmediate(() => children.find((one) => one.pid === -pid)?.end())
  })
  const run = commandRunner({ clock, kill, spawn: spawn as unknown as CommandParts['spawn'] })
  return { clock, children, kill, run }
}

test('a program that takes too long ends with its group, and its output says so', async () => {
  const { clock, children, kill, run } = machine({ inKernel: false })
  const ran = run(['lvs', '--all'], { timeout_s: 30 })
  children[0]?.stdout.write('a volume\n')
  await clock.pass(29)
  expect(kill).not.toHaveBeenCalled()
  await clock.pass(1)
  expect(kill).toHaveBeenCalledWith(-1000, 'SIGKILL')
  await expect(ran).resolves.toMatchObject({
    ...{ code: null, timedOut: true, stdout: 'a volume\n' },
    output: 'a volume\n\nlvs was ended, because it took longer than 30 s\n',
  })
})

test('nobody waits for a program that cannot be ended', async () => {
  const { clock, children, run } = machine({ inKernel: true })
  const ran = run(['lvs', '--all'], { timeout_s: 30 })
  await clock.pass(40)
  const { output, ...others } = await ran
  expect(others).toMatchObject({ code: null, timedOut: true })
  expect(output).toContain('lvs was ended, because it took longer than 30 s')
  expect(output).toContain('lvs (process 1000, for lvs --all) waits in the kernel and cannot be ended: dmesg')
  expect(children[0]?.unref).toHaveBeenCalled()
})

test('an aborted program that cannot be ended is not waited for either', async () => {
  const { clock, run } = machine({ inKernel: true })
  const ran = run(['lvs'], { timeout_s: 3000, signal: AbortSignal.abort() })
  await clock.pass(10)
  await expect(ran).resolves.toMatchObject({
    code: null,
    timedOut: false,
    output: expect.stringContaining('waits in the kernel'),
  })
})

test('while a program for a device cannot be ended, no other is started for it, until it has ended', async () => {
  const { clock, children, run } = machine({ inKernel: true })
  const first = run(['blockdev', '/dev/a'], { timeout_s: 30, about: '/dev/a' })
  await clock.pass(40)
  await first
  const refused = await run(['lvremove', '/dev/a'], { timeout_s: 30, about: '/dev/a' })
  expect(refused).toMatchObject({ code: null, timedOut: true })
  expect(refused.output).toMatch(
    /^lvremove was not started, because blockdev \(process 1000, for \/dev\/a\) waits in the kernel/,
  )
  expect(children).toHaveLength(1)
  void run(['lvremove', '/dev/b'], { timeout_s: 30, about: '/dev/b' })
  expect(children).toHaveLength(2)
  children[0]?.end()
  void run(['lvremove', '/dev/a'], { timeout_s: 30, about: '/dev/a' })
  expect(children).toHaveLength(3)
})

test('the number of programs that cannot be ended is bounded', async () => {
  const { clock, children, run } = machine({ inKernel: true })
  for (let at = 0; at < 100; at++) {
    const ran = run(['lvs', `group${at}`], { timeout_s: 30 })
    await clock.pass(40)
    expect((await ran).code).toBe(null)
  }
  expect(children).toHaveLength(16)
})
