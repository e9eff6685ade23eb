// A small client of the NBD protocol for tests. It uses a served disk as QEMU does.
import * as net from 'node:net'

const REQUEST = 0x25609513
const COMMAND = { read: 0, write: 1, flush: 3, discard: 4, writeZeros: 6 } as const
const KEEP_ROOM = 2
const GO = 7
const REPLY = { ack: 1, info: 3 } as const

export class NbdClient {
  size = 0
  private received = Buffer.alloc(0)
  private wake: () => void = () => undefined
  private last: Promise<unknown> = Promise.resolve()
  private ended = false

  private constructor(private readonly socket: net.Socket) {
    socket.on('data', (data: Buffer) => {
      this.received = Buffer.concat([this.received, data])
      this.wake()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.ended = true
      this.wake()
    })
  }

  static async open(file: string): Promise<NbdClient> {
    const socket = net.connect(file)
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    return NbdClient.over(socket)
  }

  /** Opens the disk that is served at the other end. */
  static async over(socket: net.Socket): Promise<NbdClient> {
    const client = new NbdClient(socket)
    await client.take(18)
    await client.go('disk')
    return client
  }

  read = (offset: number, length: number): Promise<Buffer> => this.command(COMMAND.read, offset, length)
  write = async (offset: number, data: string | Buffer): Promise<void> =>
    void (await this.command(COMMAND.write, offset, data.length, typeof data === 'string' ? Buffer.from(data) : data))
  discard = async (offset: number, length: number): Promise<void> =>
    void (await this.command(COMMAND.discard, offset, length))
  /** The range keeps its space. */
  writeZeros = async (offset: number, length: number): Promise<void> =>
    void (await this.command(COMMAND.writeZeros, offset, length, Buffer.alloc(0), KEEP_ROOM))
  flush = async (): Promise<void> => void (await this.command(COMMAND.flush, 0, 0))
  close = (): void => void this.socket.destroy()

  private async go(name: string): Promise<void> {
    const option = Buffer.alloc(26 + name.length)
    option.writeUInt32BE(3, 0)
    option.write('IHAVEOPT', 4)
    option.writeUInt32BE(GO, 12)
    option.writeUInt32BE(6 + name.length, 16)
    option.writeUInt32BE(name.length, 20)
    option.write(name, 24)
    this.socket.write(option)
    for (let type = 0; type !== REPLY.ack;) {
      const head = await this.take(20)
      type = head.readUInt32BE(12)
      const content = await this.take(head.readUInt32BE(16))
      if (type === REPLY.info && content.readUInt16BE(0) === 0) this.size = Number(content.readBigUInt64BE(2))
    }
  }

  /** Commands run one after the other. */
  private command(
    type: number,
    offset: number,
    length: number,
    data: Buffer = Buffer.alloc(0),
    flags = 0,
  ): Promise<Buffer> {
    const work = this.last.then(async () => {
      const head = Buffer.alloc(28)
      head.writeUInt32BE(REQUEST, 0)
      head.writeUInt16BE(flags, 4)
      head.writeUInt16BE(type, 6)
      head.writeBigUInt64BE(BigInt(offset), 16)
      head.writeUInt32BE(length, 24)
      this.socket.write(Buffer.concat([head, data]))
      const answer = await this.take(16)
      const error = answer.readUInt32BE(4)
      if (error !== 0) throw new Error(`the disk answers with error ${error}`)
      return this.take(type === COMMAND.read ? length : 0)
    })
    this.last = work.catch(() => undefined)
    return work
  }

  private async take(length: number): Promise<Buffer> {
    while (this.received.length < length) {
      if (this.ended) throw new Error('the server has hung up')
      await new Promise<void>((resolve) => (this.wake = resolve))
    }
    const taken = this.received.subarray(0, length)
    this.received = this.received.subarray(length)
    return taken
  }
}
