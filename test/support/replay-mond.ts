// Recorded requests to a real Ganeti's monitoring daemon, sent again byte by byte.
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as path from 'node:path'
import { differences, parsed, sameShape } from './replay'

const FOLDER = path.join(__dirname, '../golden/mond')

interface Recording {
  readonly name: string
  readonly request: string
  readonly head: readonly string[]
  readonly json?: unknown
}

/** Compares each recorded GET, and returns the differences. For live measurements it compares only the shape. */
export async function replayMond(address: string, port: number): Promise<{ complaints: string[]; replayed: number }> {
  const recordings = fs
    .readdirSync(FOLDER)
    .sort()
    .map((file) => JSON.parse(fs.readFileSync(path.join(FOLDER, file), 'utf8')) as Recording)
    .filter(({ request }) => request.startsWith('GET '))
  const found = await Promise.all(
    recordings.map(async (recording) => {
      const answer = await send(address, port, recording.request)
      return complaintsOf(recording, answer).map((text) => `mond/${recording.name}: ${text}`)
    }),
  )
  return { complaints: found.flat(), replayed: recordings.length }
}

function complaintsOf({ head, json }: Recording, { status, body }: Answer): string[] {
  const desired = Number(head[0]?.split(' ')[1])
  if (status !== desired) return [`status ${status}, recorded was ${desired}`]
  if (json === undefined) return []
  const got = parsed(body)
  const reports = Array.isArray(json) ? (json as unknown[]) : [json]
  if (!reports.every(isReport)) return differences(json, got)
  const ours = (Array.isArray(got) ? (got as unknown[]) : [got]).filter(isReport)
  return reports.filter(isReport).flatMap((report) => {
    const mine = ours.find(({ name }) => name === report.name)
    if (mine === undefined) return [`no report ${report.name}`]
    const { data, timestamp, ...rest } = report
    const { data: myData, timestamp: myTime, ...myRest } = mine
    const shape = sameShape(data, myData) && sameShape(timestamp, myTime) ? [] : [`${report.name}: another shape`]
    return [...differences(rest, myRest), ...shape]
  })
}

interface AnyReport {
  readonly name: string
  readonly data: unknown
  readonly timestamp: unknown
}

const isReport = (value: unknown): value is AnyReport =>
  typeof value === 'object' && value !== null && 'format_version' in value

interface Answer {
  readonly status: number
  readonly body: string
}

/** A text may contain several requests. The last answer counts; it ends the connection. */
function send(host: string, port: number, request: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = net.connect({ host, port }, () => socket.write(request))
    socket.setEncoding('utf8').on('data', (piece: string) => (text += piece))
    socket.on('error', reject)
    socket.on('end', () => {
      const last = text.slice(text.lastIndexOf('HTTP/1.1 '))
      const [head = '', ...body] = last.split('\r\n\r\n')
      resolve({ status: Number(head.split(' ')[1]), body: body.join('\r\n\r\n') })
    })
  })
}
