// Allocator scripts of a node are ended with all that they started.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { text } from 'node:stream/consumers'
import { runIallocator } from '../../../src/node/programs'
import { type TestNode, testNode } from '../../support/node-context'

let node: TestNode
beforeEach(() => {
  node = testNode()
})
afterEach(() => node.remove())

const script = (body: string) => node.put('/usr/lib/ganeti/iallocators/mine', `#!/bin/sh\n${body}\n`, 0o755)
const BOUNDS = { seconds: 60, bytes: 1 << 20 }
const ask = (bounds: Partial<typeof BOUNDS>, context = node.context) =>
  runIallocator(context, 'mine', '{}', {}, { ...BOUNDS, ...bounds })

/** A pipe that is read to its end when all processes that opened it are gone. `gone` first closes the test's own end. */
function witness() {
  const pipe = path.join(node.paths.dataDir, 'witness')
  execFileSync('mkfifo', [pipe])
  const held = fs.openSync(pipe, 'r+')
  const stream = fs.createReadStream(pipe)
  const begun = new Promise<void>((resolve) => stream.once('readable', resolve))
  const reported = text(stream)
  const gone = () => {
    fs.closeSync(held)
    return reported
  }
  return { pipe, begun, gone }
}

/** A child in the background, which has its output, and one in the foreground. */
const lingering = (pipe: string) => `exec 9> ${pipe}; echo begun >&9; echo thinking; sleep 1000 & sleep 1000`

test('an allocator reads its input from a file, which is gone afterwards', async () => {
  node.put('/usr/local/lib/ganeti/iallocators/mine', '#!/bin/sh\necho "$2 $3"; cat "$1"\n', 0o755)
  const options = { 'ignore-soft-errors': null, level: 3 }
  await expect(runIallocator(node.context, 'mine', '{"a": 1}', options)).resolves.toBe(
    '--ignore-soft-errors --level=3\n{"a": 1}',
  )
  await expect(runIallocator(node.context, '../mine', '', [])).rejects.toThrow('not found in the search path')
  expect(fs.readdirSync(node.paths.runDir)).toEqual([])
})

test('an allocator that does not end in time is ended with all that it started, and the error says so', async () => {
  const { pipe, gone } = witness()
  script(lingering(pipe))
  await expect(ask({ seconds: 1 })).rejects.toThrow(
    /^iallocator module 'mine' failed: terminated because it did not end within 1 seconds, output '(thinking\s+)?\S+ was ended, because it took longer than 1 s'$/,
  )
  await gone()
  expect(fs.readdirSync(node.paths.runDir)).toEqual([])
})

test('an allocator whose caller is gone is ended with all that it started', async () => {
  const { pipe, begun, gone } = witness()
  script(lingering(pipe))
  const caller = new AbortController()
  const requested = ask({}, { ...node.context, caller: caller.signal })
  await begun
  caller.abort()
  await expect(requested).rejects.toThrow('terminated because its caller is gone')
  await gone()
  // A program does not start if its caller is already gone.
  await expect(ask({}, { ...node.context, caller: caller.signal })).rejects.toThrow('its caller is gone')
})

test('programs that an allocator leaves running end when it has answered', async () => {
  const { pipe, gone } = witness()
  script(`exec 9> ${pipe}; sleep 1000 & echo '{"success": true}'`)
  await expect(ask({})).resolves.toBe('{"success": true}\n')
  await gone()
})

test('a child that went its own way does not hold up the end of an allocator', async () => {
  const { pipe, begun, gone } = witness()
  script(`setsid sh -c 'echo $$ > ${pipe}; sleep 1000' & sleep 1000`)
  const caller = new AbortController()
  const requested = ask({}, { ...node.context, caller: caller.signal })
  await begun
  caller.abort()
  await expect(requested).rejects.toThrow('terminated because its caller is gone')
  process.kill(-Number(await gone()), 'SIGKILL')
})

test('an allocator that prints without end is ended, and the error shows the last of it', async () => {
  script('yes nonsense')
  const error = await ask({}).catch((reason: unknown) => String(reason))
  expect(error).toMatch(/failed: terminated because it printed more than 1048576 bytes, output '\[\.\.\.\][ns\s]/)
  expect(error.length).toBeLessThan(2500)
})

test('an allocator that ends with another code than 0, or by a signal, has failed', async () => {
  script('echo no; exit 3')
  await expect(ask({})).rejects.toThrow("iallocator module 'mine' failed: exited with exit code 3, output 'no'")
  script('kill -TERM $$')
  await expect(ask({})).rejects.toThrow("failed: terminated by signal 15, output ''")
})
