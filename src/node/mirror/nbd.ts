// Serves a disk to QEMU: the NBD protocol (fixed newstyle, simple replies) with one export, at a Unix socket that only this node's user may
// use.
import type * as net from 'node:net'
import type { Files } from '../../lib/files'
import type { Log } from '../../lib/log'
import { errorText } from '../../lib/system-failure'
import { serveSocket } from '../../lib/net/json-socket'
import { SERVED_EXPORT } from '../../model/constants/disks'
import { NBD_OPTION_BYTES_MAX, NBD_REQUEST_BYTES_MAX } from '../../model/limits/mirror'

export interface Served {
  /** In bytes. */
  size(): number
  read(offset: number, length: number): Promise<Buffer>
  write(offset: number, bytes: Buffer): Promise<void>
  /** The range then reads as zeros, and takes no space. */
  zero(offset: number, length: number): Promise<void>
  flush(): Promise<void>
}

export interface NbdServer {
  /** The number of clients that have it open. */
  readonly clients: number
  close(): Promise<void>
}

const MAGIC = Buffer.from('NBDMAGICIHAVEOPT')
const OPTION_MAGIC = MAGIC.subarray(8)
const OPTION_REPLY = Buffer.from('0003e889045565a9', 'hex')
const [REQUEST_MAGIC, REPLY_MAGIC] = [0x25609513, 0x67446698]
const FIXED_NEWSTYLE = 1
const NO_ZEROES = 2
const OPTION = { exportName: 1, abort: 2, list: 3, info: 6, go: 7 } as const
const REPLY = { ack: 1, server: 2, info: 3, unsupported: 0x80000001, unknown: 0x80000006 } as const
const INFO = { export: 0, blockSize: 3 } as const
/** The export supports flags, flush, write-through, discard, and zero-writing. */
const FLAGS = 1 | 4 | 8 | 32 | 64
const COMMAND = { read: 0, write: 1, disconnect: 2, flush: 3, discard: 4, writeZeros: 6 } as const
/** The flags of a command. */
const [WRITE_THROUGH, KEEP_ROOM] = [1, 2]
const ZEROS = Buffer.alloc(1 << 20)
const ERROR = { io: 5, invalid: 22 } as const

export async function serveNbd(files: Files, log: Log, file: string, served: Served): Promise<NbdServer> {
  const open = new Set<net.Socket>()
  const server = await serveSocket(files, file, (socket) => {
    open.add(socket)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => open.delete(socket))
    const failed = onlyFirst((error) =>
      log.warn({ socket: file, error: errorText(error) }, 'a request for a disk failed'),
    )
    talk(socket, served, failed).catch((error: unknown) => {
      if (!(error instanceof HasLeft))
        log.warn({ socket: file, error: errorText(error) }, 'the connection of a client of a disk is closed')
      socket.destroy()
    })
  })
  return {
    get clients() {
      return open.size
    },
    async close() {
      const closed = server.close()
      for (const socket of open) socket.destroy()
      await closed
    },
  }
}

/** A guest can repeat a request as often as it likes. */
function onlyFirst(tell: (error: unknown) => void): (error: unknown) => void {
  let reported = false
  return (error) => {
    if (!reported) tell(error)
    reported = true
  }
}

/** The client has ended the connection, as it may at any time. */
class HasLeft extends Error {}

async function talk(socket: net.Socket, served: Served, failed: (error: unknown) => void): Promise<void> {
  const input = new Input(socket)
  const head = Buffer.alloc(MAGIC.length + 2)
  MAGIC.copy(head)
  head.writeUInt16BE(FIXED_NEWSTYLE | NO_ZEROES, MAGIC.length)
  socket.write(head)
  const noZeroes = ((await input.take(4)).readUInt32BE(0) & NO_ZEROES) !== 0
  while (!(await negotiated(socket, input, served, noZeroes))) if (socket.destroyed) return
  while (!socket.destroyed) if (!(await command(socket, input, served, failed))) return void socket.end()
}

/** Handles one option. Returns whether commands follow now. */
async function negotiated(socket: net.Socket, input: Input, served: Served, noZeroes: boolean): Promise<boolean> {
  const head = await input.take(16)
  const [option, length] = [head.readUInt32BE(8), head.readUInt32BE(12)]
  if (!head.subarray(0, 8).equals(OPTION_MAGIC)) throw new Error('what it sent is no option of NBD')
  if (length > NBD_OPTION_BYTES_MAX) throw new Error(`its option ${option} has ${length} bytes`)
  const data = await input.take(length)
  const reply = (type: number, content: Buffer = Buffer.alloc(0)) => {
    const lengths = Buffer.alloc(12)
    lengths.writeUInt32BE(option, 0)
    lengths.writeUInt32BE(type, 4)
    lengths.writeUInt32BE(content.length, 8)
    socket.write(Buffer.concat([OPTION_REPLY, lengths, content]))
  }
  if (option === OPTION.exportName) {
    const name = data.toString('utf8')
    if (!isOurs(name)) throw new Error(`it asked for the export ${JSON.stringify(name)}`)
    socket.write(Buffer.concat([exportFacts(served), Buffer.alloc(noZeroes ? 0 : 124)]))
    return true
  }
  if (option === OPTION.abort) {
    reply(REPLY.ack)
    socket.end()
    throw new HasLeft()
  }
  if (option === OPTION.list) {
    const name = Buffer.from(SERVED_EXPORT)
    reply(REPLY.server, Buffer.concat([word(name.length), name]))
    reply(REPLY.ack)
  } else if (option === OPTION.info || option === OPTION.go) {
    const name = data.subarray(4, 4 + data.readUInt32BE(0)).toString('utf8')
    if (!isOurs(name)) reply(REPLY.unknown)
    else {
      reply(REPLY.info, Buffer.concat([half(INFO.export), exportFacts(served)]))
      reply(REPLY.info, Buffer.concat([half(INFO.blockSize), word(1), word(4096), word(NBD_REQUEST_BYTES_MAX)]))
      reply(REPLY.ack)
      return option === OPTION.go
    }
  } else reply(REPLY.unsupported)
  return false
}

const isOurs = (name: string): boolean => name === '' || name === SERVED_EXPORT

function exportFacts(served: Served): Buffer {
  const facts = Buffer.alloc(10)
  facts.writeBigUInt64BE(BigInt(served.size()), 0)
  facts.writeUInt16BE(FLAGS, 8)
  return facts
}

/** Reads one command and begins it. The answer follows when it is done. Returns false after the last command. */
async function command(
  socket: net.Socket,
  input: Input,
  served: Served,
  failed: (error: unknown) => void,
): Promise<boolean> {
  const head = await input.take(28)
  if (head.readUInt32BE(0) !== REQUEST_MAGIC) throw new Error('what it sent is no request of NBD')
  const [flags, type, cookie] = [head.readUInt16BE(4), head.readUInt16BE(6), head.subarray(8, 16)]
  const [offset, length] = [Number(head.readBigUInt64BE(16)), head.readUInt32BE(24)]
  if (type === COMMAND.disconnect) return false
  const carriesData = type === COMMAND.read || type === COMMAND.write
  if (length > NBD_REQUEST_BYTES_MAX && carriesData) throw new Error(`its request has ${length} bytes`)
  const data = type === COMMAND.write ? await input.take(length) : undefined
  const answer = (error: number, content: Buffer = Buffer.alloc(0)) => {
    const reply = Buffer.alloc(16)
    reply.writeUInt32BE(REPLY_MAGIC, 0)
    reply.writeUInt32BE(error, 4)
    cookie.copy(reply, 8)
    if (!socket.destroyed) socket.write(Buffer.concat([reply, content]))
  }
  const isInside = offset + length <= served.size()
  const work = async (): Promise<void> => {
    if (type === COMMAND.flush) await served.flush()
    else if (!isInside) return answer(ERROR.invalid)
    else if (type === COMMAND.read) return answer(0, await served.read(offset, length))
    else {
      if (data !== undefined) await served.write(offset, data)
      else if (type === COMMAND.writeZeros && (flags & KEEP_ROOM) !== 0)
        await inParts(offset, length, ZEROS.length, (at, size) => served.write(at, ZEROS.subarray(0, size)))
      else if (type === COMMAND.writeZeros || type === COMMAND.discard)
        await inParts(offset, length, NBD_REQUEST_BYTES_MAX, (at, size) => served.zero(at, size))
      else return answer(ERROR.invalid)
      if ((flags & WRITE_THROUGH) !== 0) await served.flush()
    }
    answer(0)
  }
  work().catch((error: unknown) => {
    failed(error)
    answer(ERROR.io)
  })
  return true
}

/** One request may cover gigabytes. It is done in parts, so that other writes need not wait for all of it. */
async function inParts(
  offset: number,
  length: number,
  part: number,
  work: (offset: number, length: number) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < length; at += part) await work(offset + at, Math.min(part, length - at))
}

const word = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
const half = (value: number): Buffer => {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

/** Collects what comes in, and hands out the wanted number of bytes at a time. */
class Input {
  private chunks: Buffer[] = []
  private length = 0
  private waiting: { wanted: number; resolve: (bytes: Buffer) => void; reject: (error: Error) => void } | undefined

  constructor(private readonly socket: net.Socket) {
    socket.on('data', (data: Buffer) => {
      this.chunks.push(data)
      this.length += data.length
      // Makes a client wait that sends faster than it is served.
      if (this.length > 2 * NBD_REQUEST_BYTES_MAX) socket.pause()
      this.give()
    })
    socket.once('close', () => this.waiting?.reject(new HasLeft()))
  }

  take(desired: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      if (this.socket.destroyed) return reject(new HasLeft())
      this.waiting = { wanted: desired, resolve, reject }
      this.give()
    })
  }

  private give(): void {
    const { waiting } = this
    if (waiting === undefined || this.length < waiting.wanted) return
    const all = Buffer.concat(this.chunks)
    const rest = all.subarray(waiting.wanted)
    this.chunks = rest.length === 0 ? [] : [rest]
    this.length = rest.length
    this.waiting = undefined
    if (this.socket.isPaused()) this.socket.resume()
    waiting.resolve(all.subarray(0, waiting.wanted))
  }
}
