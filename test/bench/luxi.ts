// LUXI as plain as it is: works with Gantry's luxid and with Ganeti's.
import * as net from 'node:net'

export class Luxi {
  private parts: string[] = []
  private readonly waiting: { resolve(answer: string): void; reject(error: Error): void }[] = []

  private constructor(private readonly socket: net.Socket) {
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => this.hear(text))
    const lost = () => {
      for (const { reject } of this.waiting.splice(0)) reject(new Error('luxid closed the connection'))
    }
    socket.on('error', lost)
    socket.on('close', lost)
  }

  static open(path: string): Promise<Luxi> {
    return new Promise((resolve, reject) => {
      const socket = net.connect(path, () => resolve(new Luxi(socket)))
      socket.once('error', reject)
    })
  }

  async call(method: string, args: unknown): Promise<unknown> {
    const answer = JSON.parse(await this.text(method, args)) as { success: boolean; result: unknown }
    if (answer.success) return answer.result
    throw new Error(`luxid answered: ${JSON.stringify(answer.result)}`)
  }

  /** The answer as it comes: to read a long one takes longer than to get it. */
  text(method: string, args: unknown): Promise<string> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject })
      this.socket.write(`${JSON.stringify({ method, args, version: 3000000 })}\x03`)
    })
  }

  close(): void {
    this.socket.destroy()
  }

  private hear(text: string): void {
    const [first = '', ...more] = text.split('\x03')
    this.parts.push(first)
    for (const next of more) {
      this.waiting.shift()?.resolve(this.parts.join(''))
      this.parts = [next]
    }
  }
}
