// Sends a recorded request to the remote API, byte by byte.
import * as tls from 'node:tls'

export interface RawAnswer {
  status: number
  /** The names are in lower case. */
  headers: Readonly<Record<string, string>>
  body: string
}

export function rawRequest(url: string, bytes: string): Promise<RawAnswer> {
  const { hostname, port } = new URL(url)
  const isHead = bytes.startsWith('HEAD')
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ host: hostname, port: Number(port), rejectUnauthorized: false })
    let text = ''
    const whole = (closed: boolean) => {
      const answer = text.replace(/^HTTP\/1.1 100[^]*?\r\n\r\n/, '')
      const end = answer.indexOf('\r\n\r\n')
      const [status = '', ...lines] = answer.slice(0, end).split('\r\n')
      const headers = Object.fromEntries(lines.map((line) => headerOf(line)))
      const body = answer.slice(end + 4)
      const length = Number(headers['content-length'] ?? 0)
      // Waits a second for bytes that must not follow the answer to a HEAD.
      if (isHead && end !== -1) socket.setTimeout(1000)
      if (!closed && (end === -1 || isHead || body.length < length)) return
      socket.destroy()
      resolve({ status: Number(status.split(' ')[1]), headers, body: body.slice(0, length) })
    }
    socket.setTimeout(30_000, () => whole(true))
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk
      whole(false)
    })
    socket.on('secureConnect', () => socket.write(Buffer.from(bytes, 'utf8'))).on('close', () => whole(true))
    socket.on('error', reject)
  })
}

function headerOf(line: string): [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}
