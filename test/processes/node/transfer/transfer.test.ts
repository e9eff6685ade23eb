// Data of disks arrives whole at the other end of a transfer, and only there.
import { spawn } from 'node:child_process'
import * as fs from 'node:fs'
import type { AddressInfo } from 'node:net'
import * as path from 'node:path'
import * as tls from 'node:tls'
import { systemDisk } from '../../../../src/lib/disk'
import { systemFiles } from '../../../../src/lib/files'
import { systemClock } from '../../../../src/lib/clock'
import { createCertificate } from '../../../../src/lib/tls'
import { transfer } from '../../../../src/node/transfer/run'
import type { TransferEnd, TransferSpec } from '../../../../src/node/transfer/spec'
import { TransferStatus } from '../../../../src/node/transfer/status'
import type { ImpExpStatus } from '../../../../src/rpc/node/dicts'
import { TRANSFER_STALL_S } from '../../../../src/model/limits/transfers'
import { eventually } from '../../../support/hypervisor'
import { SteppedClock } from '../../../support/stepped-clock'
import { type TestNode, testNode } from '../../../support/node-context'

let node: TestNode
let folder: string
beforeAll(async () => {
  node = testNode()
  folder = path.dirname(node.put('/srv/data/here', ''))
  fs.writeFileSync(path.join(folder, 'pem'), await createCertificate())
  fs.writeFileSync(path.join(folder, 'stranger'), await createCertificate())
})
afterAll(() => node.remove())

const file = (name: string, content?: Buffer | string): string => {
  const full = path.join(folder, name)
  if (content !== undefined) fs.writeFileSync(full, content)
  return full
}
const script = (name: string, text: string): TransferEnd => {
  const full = file(name, `#!/bin/sh\n${text}\n`)
  fs.chmodSync(full, 0o755)
  return { kind: 'script', path: full, directory: folder }
}
const fileEnd = (name: string, content?: Buffer | string): TransferEnd => ({ kind: 'file', path: file(name, content) })

interface Outcome {
  readonly error: string | undefined
  readonly status: ImpExpStatus
}

/** Runs both ends; the exporting one starts when the importing one listens. */
async function both(
  from: TransferEnd,
  to: TransferEnd,
  changes: { common?: Partial<TransferSpec>; export?: Partial<TransferSpec>; import?: Partial<TransferSpec> } = {},
): Promise<{ sent: Outcome; received: Outcome }> {
  const pem = path.join(folder, 'pem')
  const basics = {
    ...{ keyFile: pem, certFile: pem, ca: fs.readFileSync(pem, 'utf8'), compress: 'none', magic: 'magic-12345' },
    ...{ connectTimeout_s: 20, connectRetries: 0, log: '/log', env: { PATH: '/usr/bin:/bin', GREETING: 'hello' } },
    ...changes.common,
  }
  const statusFile = file(`status-${Math.floor(fs.readdirSync(folder).length)}`)
  const receiving = run({ ...basics, mode: 'import', end: to, bind: '127.0.0.1', ...changes.import }, statusFile)
  const port = await listeningPort(statusFile)
  const desired = { mode: 'export', end: from, host: '127.0.0.1', port } as const
  const sending = run({ ...basics, ...desired, ...changes.export }, `${statusFile}-export`)
  return { sent: await sending, received: await receiving }
}

const surroundings = { clock: systemClock, disk: systemDisk, files: systemFiles, spawn }

async function run(spec: TransferSpec, statusFile: string): Promise<Outcome> {
  const status = new TransferStatus(statusFile, surroundings)
  jest.spyOn(process.stderr, 'write').mockReturnValue(true)
  const error = await transfer(spec, status, surroundings).then(
    () => undefined,
    (reason: unknown) => String(reason),
  )
  await status.finished(error)
  return { error, status: JSON.parse(fs.readFileSync(statusFile, 'utf8')) as ImpExpStatus }
}

/** The status file is all that a transfer tells, so it is looked at again and again, as the node daemon does. */
async function listeningPort(statusFile: string): Promise<number> {
  for (;;) {
    if (fs.existsSync(statusFile)) {
      const { listen_port } = JSON.parse(fs.readFileSync(statusFile, 'utf8')) as ImpExpStatus
      if (listen_port !== undefined) return listen_port
    }
    await systemClock.sleep(5)
  }
}

const data = Buffer.alloc(3 << 20, 'The quick brown fox. ')

test.each(['none', 'gzip', 'gzip-slow'])('a file arrives whole, compression %s', async (compress) => {
  const { sent, received } = await both(fileEnd('source', data), fileEnd('target'), { common: { compress } })
  expect([sent.error, received.error]).toEqual([undefined, undefined])
  expect(fs.readFileSync(file('target')).equals(data)).toBe(true)
  expect(received.status).toMatchObject({ connected: true, exit_status: 0, progress_mbytes: 3 })
  expect(sent.status).toMatchObject({ connected: true, exit_status: 0, progress_mbytes: 3 })
})

test('a device is written in place and keeps its size', async () => {
  const device: TransferEnd = { kind: 'device', path: file('device', Buffer.alloc(4 << 20, 1)) }
  await both(fileEnd('source', data), device)
  const written = fs.readFileSync(device.path)
  expect(written.length).toBe(4 << 20)
  expect(written.subarray(0, data.length).equals(data)).toBe(true)
  expect(written[data.length]).toBe(1)
})

describe('a disk that is a file keeps its size, and more data is a failure', () => {
  const sized = (name: string) => fs.statSync(path.join(folder, name)).size

  test('without a script', async () => {
    const { received } = await both(fileEnd('large', Buffer.alloc(3000, 1)), { kind: 'device', path: file('small', 'x'.repeat(2000)) }) // prettier-ignore
    expect(received.error).toContain('more data came than the 2000 bytes of the disk')
    expect(sized('small')).toBe(2000)
  })

  test.each([
    [3000, 'more data came than the 2000 bytes of the disk'],
    [1000, undefined],
  ])('with a script that makes the file anew with %i bytes', async (bytes, error) => {
    const disk = file('scripted', 'x'.repeat(2000))
    const to = script('make-anew', 'cat >"$IMPORT_DEVICE"')
    const env = { PATH: '/usr/bin:/bin', IMPORT_DEVICE: disk }
    const { received } = await both(fileEnd('image', Buffer.alloc(bytes, 1)), to, { import: { env } })
    if (error === undefined) expect(received.error).toBeUndefined()
    else expect(received.error).toContain(error)
    expect(sized('scripted')).toBe(2000)
  })
})

test('scripts send and receive, know their environment, and tell their size', async () => {
  const from = script('export', 'echo 1048576 >&$EXP_SIZE_FD; echo "$GREETING from $PWD"; echo noise >&2')
  const to = script('import', `cat > '${path.join(folder, 'imported')}'`)
  const { sent, received } = await both(from, to)
  expect([sent.error, received.error]).toEqual([undefined, undefined])
  expect(fs.readFileSync(path.join(folder, 'imported'), 'utf8')).toBe(`hello from ${fs.realpathSync(folder)}\n`)
  expect(sent.status.recent_output).toEqual(['noise'])
  expect(sent.status.progress_percent).toBeGreaterThan(0)
})

test('a script that fails fails the transfer and says so', async () => {
  const { sent } = await both(script('failing', 'echo no such disk >&2; exit 3'), fileEnd('target'))
  expect(sent.error).toBe('Error: the export script exited with status 3; its log file is /log')
  expect(sent.status).toMatchObject({ exit_status: 1, recent_output: ['no such disk'] })
  const { received } = await both(fileEnd('source', data), script('refusing', 'exit 4'))
  expect(received.error).toBe('Error: the import script exited with status 4; its log file is /log')
})

test('data with another magic value is refused, and nothing of it is written', async () => {
  const { received } = await both(fileEnd('source', data), fileEnd('wrong', 'old'), {
    import: { magic: 'magic-other' },
  })
  expect(received.error).toBe('Error: Magic value mismatch')
  expect(fs.readFileSync(file('wrong'), 'utf8')).toBe('')
})

test('an end without the certificate is refused, and the right one can still come', async () => {
  const stranger = path.join(folder, 'stranger')
  const { sent, received } = await both(fileEnd('source', data), fileEnd('target'), {
    export: { keyFile: stranger, certFile: stranger },
    import: { connectTimeout_s: 1 },
  })
  expect(sent.error).toBeDefined()
  expect(received.error).toBe('Error: no connection was established in time (1s)')
  expect(received.status.recent_output[0]).toMatch(/^a connection was refused: /)
})

test('an end whose other end hangs gives up when nothing was moved for long', async () => {
  const clock = new SteppedClock()
  const pem = fs.readFileSync(path.join(folder, 'pem'), 'utf8')
  const basics = {
    ...{ keyFile: path.join(folder, 'pem'), certFile: path.join(folder, 'pem'), ca: pem, compress: 'none' },
    ...{ connectTimeout_s: 20, connectRetries: 0, log: '/log', env: {} },
  }
  const stalled = async ({ work, status }: ReturnType<typeof start>, statusFile: string): Promise<void> => {
    const failed = expect(work).rejects.toThrow('No data was moved for 1h')
    await eventually(async () =>
      fs.existsSync(statusFile) && fs.readFileSync(statusFile, 'utf8').includes('"connected":true') ? true : undefined,
    )
    // What the kernel still takes counts as moved.
    let isOver = false
    const over = failed.finally(() => (isOver = true))
    while (!isOver) {
      await clock.pass(TRANSFER_STALL_S)
      await systemClock.sleep(20)
    }
    await over
    await status.finished('it hung')
  }
  const start = (spec: TransferSpec, statusFile: string) => {
    const status = new TransferStatus(statusFile, surroundings)
    return { status, work: transfer(spec, status, { ...surroundings, clock }) }
  }
  // It sends the beginning of the data, and later reads nothing of what the other end sends.
  const identity = { key: pem, cert: pem, ca: pem, checkServerIdentity: () => undefined }
  const importStatus = file('status-hangs')
  const importing = start({ ...basics, mode: 'import', end: fileEnd('half'), bind: '127.0.0.1' }, importStatus)
  const sender = tls.connect({ ...identity, port: await listeningPort(importStatus), host: '127.0.0.1' })
  sender.on('error', () => undefined).write('the beginning')
  await stalled(importing, importStatus)
  sender.destroy()

  let hanging: tls.TLSSocket | undefined
  const receiver = tls.createServer({ ...identity, requestCert: true }, (socket) => (hanging = socket).pause())
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const { port } = receiver.address() as AddressInfo
  const end = fileEnd('large', Buffer.alloc(32 << 20))
  const exportStatus = file('status-hangs-too')
  await stalled(start({ ...basics, mode: 'export', end, host: '127.0.0.1', port }, exportStatus), exportStatus)
  hanging?.on('error', () => undefined).destroy()
  receiver.close()
})
