// The programs of a transfer: how they are started, and what their ends mean.
import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { compressor, exportScript, importScript } from '../../../../src/node/transfer/programs'
import type { TransferSpec } from '../../../../src/node/transfer/spec'
import { TransferStatus } from '../../../../src/node/transfer/status'
import type { Surroundings } from '../../../../src/node/transfer/stream'
import { systemClock as clock } from '../../../../src/lib/clock'
import { systemDisk as disk } from '../../../../src/lib/disk'

const script = { kind: 'script', path: '/os/export', directory: '/os' } as const
const spec: TransferSpec = {
  ...{
    mode: 'export',
    keyFile: '/key',
    certFile: '/cert',
    ca: '',
    compress: 'none',
    end: script,
    env: { DISK: '/dev/x' },
  },
  ...{ connectTimeout_s: 1, connectRetries: 0, log: '/log' },
}

/** What was started, and the program itself, which does nothing but what the test lets it do. */
function recorded() {
  const calls: unknown[] = []
  const pipes = [0, 1, 2, 3].map(() => new PassThrough())
  const [stdin, stdout, stderr] = pipes
  const child = Object.assign(new EventEmitter(), { stdin, stdout, stderr, stdio: pipes })
  const start = (program: string, args: readonly string[], { cwd, env }: { cwd?: string; env: object }) => {
    calls.push([program, args, cwd, env])
    return child
  }
  const status = new TransferStatus('/nowhere', { clock, disk })
  const said: string[] = []
  jest.spyOn(status, 'say').mockImplementation((line) => void said.push(line))
  return { calls, child, pipes, status, said, start: start as unknown as Surroundings['spawn'] }
}

test.each([
  ['export', 'gzip', ['gzip', '-1', '-c']],
  ['export', 'gzip-fast', ['gzip', '-1', '-c']],
  ['export', 'gzip-slow', ['gzip', '-c']],
  ['export', 'lzop', ['lzop', '-c']],
  ['export', 'zstd', ['zstd']],
  ['import', 'gzip-slow', ['gzip', '-d', '-c']],
  ['import', 'lzop', ['lzop', '-d', '-c']],
  ['import', 'zstd', ['zstd', '-d']],
] as const)('%s with %s starts %j', (mode, compress, [tool, ...args]) => {
  const { calls, status, start } = recorded()
  compressor({ ...spec, mode, compress }, status, start)
  expect(calls).toEqual([[tool, args, undefined, expect.objectContaining({ PATH: expect.any(String) })]])
})

test('without compression no tool is started', () => {
  const { calls, status, start } = recorded()
  expect([compressor(spec, status, start), calls]).toEqual([undefined, []])
})

test('a script gets the environment of the transfer, and only an exporting one can tell its size', async () => {
  const { calls, child, pipes, status, start } = recorded()
  importScript(script, spec, status, start)
  const { ended } = exportScript(script, spec, status, start)
  expect(calls).toEqual([
    ['/os/export', [], '/os', { DISK: '/dev/x' }],
    ['/os/export', [], '/os', { DISK: '/dev/x', EXP_SIZE_FD: '3' }],
  ])
  pipes[3]?.emit('data', '52428')
  expect(status.expected_mib).toBeUndefined()
  pipes[3]?.emit('data', '800\n')
  expect(status.expected_mib).toBe(50)
  child.emit('close', 0, null)
  await ended
})

test('what an importing script prints goes to the log of the transfer, which is bounded', () => {
  const { pipes, status, start } = recorded()
  const log = jest.spyOn(status, 'log').mockImplementation()
  importScript(script, spec, status, start)
  pipes[1]?.emit('data', 'unpacked')
  expect(log).toHaveBeenCalledWith('unpacked')
})

test('a program that fails says so with its name, after what it has said itself', async () => {
  const { child, pipes, status, said, start } = recorded()
  const { ended } = importScript(script, spec, status, start)
  pipes[2]?.emit('data', 'first\nno room')
  child.emit('close', 1, null)
  await expect(ended).rejects.toThrow('the import script exited with status 1; its log file is /log')
  expect(said).toEqual(['first', 'no room'])
})

test.each([
  [
    'was ended by a signal',
    'close',
    [null, 'SIGKILL'],
    'the compression tool zstd was ended by SIGKILL; its log file is /log',
  ],
  ['is not there', 'error', [new Error('ENOENT')], 'the compression tool zstd cannot be started: ENOENT'],
] as const)('a tool that %s fails the transfer', async (_, event, values, message) => {
  const { child, status, start } = recorded()
  const tool = compressor({ ...spec, compress: 'zstd' }, status, start)
  tool?.stream.on('error', () => undefined)
  child.emit(event, ...values)
  await expect(tool?.ended).rejects.toThrow(message)
})
