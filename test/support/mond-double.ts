// Monitoring daemons that behave well or badly, over real sockets on loopback.
import * as http from 'node:http'
import * as net from 'node:net'
import type { MondEndpoint } from '../../src/rpc/mond/client'

export const REPORT = { version: 'B', format_version: 1, category: null, kind: 0 } as const

/** The reports of a node at a given time: its system, its storage, and a stopped instance. */
export const nodeReports = (now_ms: number, more: readonly object[] = []): object[] => [
  {
    ...{ ...REPORT, name: 'system', category: 'node', timestamp: now_ms * 1e6 },
    data: { cpus: { number: 4, load: [1.5, 1, 1] }, memory: { total: 8e9, available: 3e9, free: 1e9 } },
  },
  { ...REPORT, name: 'cpu-avg-load', timestamp: now_ms * 1e6, data: { cpu_number: 4, cpus: [], cpu_total: 0.75 } },
  {
    ...{ ...REPORT, name: 'storage', category: 'storage', kind: 1, timestamp: (now_ms - 30_000) * 1e6 },
    data: {
      status: { code: 1, message: 'pool: degraded' },
      storages: [
        { name: 'xenvg', size_bytes: 1000, free_bytes: 900 },
        { name: '/srv', size_bytes: 1000, free_bytes: 100 },
        { name: 'unmeasured', size_bytes: null, free_bytes: null },
      ],
    },
  },
  {
    ...{ ...REPORT, name: 'inst-status', category: 'instance', kind: 1, timestamp: now_ms * 1e6 },
    data: { instances: [], status: { code: 4, message: '\nvm1: it  has\tcrashed' } },
  },
  ...more,
]

export const MISBEHAVIOUR = {
  'not HTTP': (socket: net.Socket) => socket.end('SSH-2.0-OpenSSH\r\n'),
  'hangs up': (socket: net.Socket) => socket.destroy(),
  'hangs up within its answer': (socket: net.Socket) =>
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[', () => socket.destroy()),
  refuses: (socket: net.Socket) => socket.end('HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n'),
  'leads elsewhere': (socket: net.Socket) =>
    socket.end('HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n'),
  'is silent': () => undefined,
  'never ends': (socket: net.Socket) => socket.write('HTTP/1.1 200 OK\r\n\r\n[1,'),
  'announces 10 MB': (socket: net.Socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n['),
  'sends 10 MB': (socket: net.Socket) => socket.end(`HTTP/1.1 200 OK\r\n\r\n[${'1,'.repeat(5e6)}`),
  'a page': (socket: net.Socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n<html>'),
} as const

export class MondDoubles {
  private readonly servers = new Set<net.Server>()
  private readonly sockets = new Set<net.Socket>()

  /** Answers each request with the present result of `told`. */
  answering(reported: () => unknown, date?: () => Date): Promise<MondEndpoint> {
    return this.listen(
      http.createServer((_, response) => {
        if (date !== undefined) response.setHeader('Date', date().toUTCString())
        response.end(JSON.stringify(reported()))
      }),
    )
  }

  misbehaving(behaviour: keyof typeof MISBEHAVIOUR): Promise<MondEndpoint> {
    const server = net.createServer((socket) => {
      socket.on('error', () => undefined).once('data', () => void MISBEHAVIOUR[behaviour](socket))
    })
    return this.listen(server)
  }

  /** Nothing listens there. */
  async dead(): Promise<MondEndpoint> {
    const server = net.createServer()
    const endpoint = await this.listen(server)
    await new Promise((resolve) => server.close(resolve))
    return endpoint
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy()
    await Promise.all([...this.servers].map((server) => new Promise((resolve) => server.close(resolve))))
  }

  private listen(server: net.Server): Promise<MondEndpoint> {
    this.servers.add(server)
    server.on('connection', (socket) => this.sockets.add(socket))
    return new Promise((resolve) =>
      server.listen(0, '127.0.0.1', () => {
        const address = server.address()
        resolve({ host: '127.0.0.1', port: typeof address === 'object' && address !== null ? address.port : 0 })
      }),
    )
  }
}
