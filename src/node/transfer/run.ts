// Runs one transfer, from its connection to its end: connects its parts, and decides what counts as success.
import { Transform, type Readable, type Writable } from 'node:stream'
import { once } from 'node:events'
import { pipeline } from 'node:stream/promises'
import type { TLSSocket } from 'node:tls'
import type { Clock, Timer } from '../../lib/clock'
import type { Files } from '../../lib/files'
import { durationText } from '../../lib/text/duration-text'
import { TRANSFER_STALL_S } from '../../model/limits/transfers'
import { withLent } from '../mirror/client'
import { compressor, exportScript, importScript, type StreamProgram } from './programs'
import type { TransferEnd, TransferSpec } from './spec'
import type { TransferStatus } from './status'
import { accept, connect, type Surroundings } from './stream'

/** Resolves when all data is in place and every program has succeeded; rejects with the failure. */
export async function transfer(spec: TransferSpec, status: TransferStatus, surroundings: Surroundings): Promise<void> {
  if (typeof spec.expectedSize === 'number') status.expected_mib = spec.expectedSize
  if (spec.lender === undefined) return flow(spec, status, surroundings)
  const { socket, minor } = spec.lender
  const how = spec.mode === 'export' ? 'to read' : 'to write'
  return withLent(surroundings.clock, { socket, minor, how }, () => flow(spec, status, surroundings))
}

async function flow(spec: TransferSpec, status: TransferStatus, surroundings: Surroundings): Promise<void> {
  const socket = await (spec.mode === 'import'
    ? accept(spec, status, surroundings)
    : connect(spec, status, surroundings))
  status.connected()
  const work =
    spec.mode === 'import' ? receive(spec, status, surroundings, socket) : send(spec, status, surroundings, socket)
  const moved = () => status.bytes + socket.bytesRead + socket.bytesWritten
  await whileItMoves(surroundings.clock, moved, work).finally(() => socket.destroy())
}

/** The other end, or a program, may hang without being gone. */
async function whileItMoves(clock: Clock, moved: () => number, work: Promise<void>): Promise<void> {
  let timer: Timer | undefined
  const stalled = new Promise<never>((_, reject) => {
    const look = (before: number) => {
      timer = clock.after(TRANSFER_STALL_S * 1000, () => {
        if (moved() !== before) return look(moved())
        reject(new Error(`No data was moved for ${durationText(TRANSFER_STALL_S)}`))
      })
    }
    look(moved())
  })
  work.catch(() => undefined)
  await Promise.race([work, stalled]).finally(() => timer?.cancel())
}

async function receive(
  spec: TransferSpec,
  status: TransferStatus,
  input: Surroundings,
  socket: TLSSocket,
): Promise<void> {
  // Before a script may make it anew.
  const disk = await fileOfDisk(input.files, spec)
  const tool = compressor(spec, status, input.spawn)
  const sink = openSink(input, spec, status)
  const limit = disk !== undefined && spec.end.kind === 'device' ? [upTo(disk.bytes)] : []
  const data = [withoutMagic(spec.magic), counter(status), ...limit]
  const parts = [socket, ...(tool ? [tool.stream] : []), ...data, sink.stream]
  try {
    await all([pipeline(parts), tool?.ended, sink.ended], () => socket.destroy())
  } finally {
    if (disk !== undefined) await keepSize(input.files, disk)
  }
}

interface DiskFile {
  readonly path: string
  readonly bytes: number
}

/** A disk that is a regular file, which does not end by itself where the disk does. */
async function fileOfDisk(files: Files, { end, env }: TransferSpec): Promise<DiskFile | undefined> {
  const path = end.kind === 'script' ? env['IMPORT_DEVICE'] : end.kind === 'device' ? end.path : undefined
  const info = path === undefined || path === '' ? undefined : await files.stat(path).catch(() => undefined)
  return path !== undefined && info?.isFile() === true ? { path, bytes: info.size } : undefined
}

/** A script may have written past the end, or made the file anew. */
async function keepSize(files: Files, { path, bytes }: DiskFile): Promise<void> {
  const { size } = await files.stat(path)
  if (size === bytes) return
  await files.truncate(path, bytes)
  if (size > bytes) throw new Error(tooMuch(bytes))
}

const tooMuch = (bytes: number): string => `more data came than the ${bytes} bytes of the disk`

function upTo(bytes: number): Transform {
  let left = bytes
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length
      if (left < 0) done(new Error(tooMuch(bytes)))
      else done(null, chunk)
    },
  })
}

async function send(spec: TransferSpec, status: TransferStatus, input: Surroundings, socket: TLSSocket): Promise<void> {
  const tool = compressor(spec, status, input.spawn)
  const source = openSource(input, spec, status)
  const closed = once(socket, 'close')
  closed.catch(() => undefined)
  const parts = [source.stream, counter(status), withMagic(spec.magic), ...(tool ? [tool.stream] : []), socket]
  await all([pipeline(parts), tool?.ended, source.ended], () => socket.destroy())
  // The importing end closes when it has read everything.
  socket.resume()
  await closed
}

/** The first failure ends everything; later ones only follow from it. */
async function all(parts: readonly (Promise<void> | undefined)[], stop: () => void): Promise<void> {
  const running = parts.filter((part) => part !== undefined)
  try {
    await Promise.all(running)
  } catch (error) {
    stop()
    const [pipe, ...programs] = await Promise.allSettled(running)
    // A failed program breaks the pipe, and its own error says more.
    const first = programs.find((program) => program.status === 'rejected') ?? pipe
    throw first?.status === 'rejected' ? first.reason : error
  }
}

function openSource(
  input: Surroundings,
  { end, ...spec }: TransferSpec,
  status: TransferStatus,
): StreamProgram<Readable> {
  if (end.kind === 'script') return exportScript(end, { ...spec, end }, status, input.spawn)
  return { stream: input.files.createReadStream(end.path, { highWaterMark: CHUNK_BYTES }), ended: Promise.resolve() }
}

function openSink(
  input: Surroundings,
  { end, ...spec }: TransferSpec,
  status: TransferStatus,
): StreamProgram<Writable> {
  if (end.kind === 'script') return importScript(end, { ...spec, end }, status, input.spawn)
  const stream = input.files.createWriteStream(end.path, { flags: flagsFor(end), mode: 0o600, flush: true })
  return { stream, ended: Promise.resolve() }
}

const CHUNK_BYTES = 1 << 20
const flagsFor = (end: TransferEnd): string => (end.kind === 'device' ? 'r+' : 'w')

function counter(status: TransferStatus): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      status.bytes += chunk.length
      done(null, chunk)
    },
  })
}

const magicText = (magic: string): Buffer => Buffer.from(`M=${magic}`)

function withMagic(magic: string | undefined): Transform {
  const stream = new Transform({ transform: (chunk: Buffer, _encoding, done) => done(null, chunk) })
  if (magic !== undefined) stream.push(magicText(magic))
  return stream
}

function withoutMagic(magic: string | undefined): Transform {
  const desired = magic === undefined ? Buffer.alloc(0) : magicText(magic)
  let head = Buffer.alloc(0)
  let passed = desired.length === 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (passed) return done(null, chunk)
      head = Buffer.concat([head, chunk])
      if (head.length < desired.length) return done()
      if (!head.subarray(0, desired.length).equals(desired)) return done(new Error('Magic value mismatch'))
      passed = true
      done(null, head.subarray(desired.length))
    },
    flush: (done) => done(passed ? null : new Error('The stream ended before its magic value')),
  })
}
