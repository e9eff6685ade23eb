// What a real cluster answered over the remote API, request by request, against an embedded one that begins in the same state. An
// answer is the recorded one, or the recording is in test/golden/differences.json with a reason.
import * as fs from 'node:fs'
import * as path from 'node:path'
import * as tls from 'node:tls'
import { gunzipSync } from 'node:zlib'
import { type EmbeddedCluster } from '../support/embedded-cluster'
import { startRecordedCluster } from '../support/recorded-state'
import { differences, parsed, verdict } from '../support/replay'

const golden = path.join(__dirname, '../golden')

interface Recording {
  name: string
  request: string
  status: number | null
  type: string | null
  body: string
}
const file = gunzipSync(fs.readFileSync(path.join(golden, 'rapi/recordings.json.gz')))
const recordings = JSON.parse(file.toString('utf8')) as Recording[]
let cluster: EmbeddedCluster
beforeAll(async () => {
  cluster = await startRecordedCluster(706)
}, 120_000)
afterAll(() => cluster.remove(), 60_000)

test('answers reads, and after them mistakes, as recorded', async () => {
  // The mistakes were recorded later; by name they would come first.
  const [reads, mistakes] = [/^get-/, /^err-/].map((kind) => recordings.filter(({ name }) => kind.test(name)))
  const complaints: string[] = []
  for (const recording of [...(reads ?? []), ...(mistakes ?? [])]) {
    // What was refused without an answer is a matter of the HTTP server.
    if (recording.status === null) continue
    for (const submission of BETWEEN[recording.name] ?? []) await ask(submission)
    const job = /^GET \/2\/jobs\/(\d+) /.exec(recording.request)
    if (/^get-.*-job$/.test(recording.name) && job) await ended(Number(job[1]))
    complaints.push(...verdict(`rapi/${recording.name}`, compare(recording, await ask(recording.request))))
  }
  expect(complaints).toEqual([])
  expect(recordings.length).toBeGreaterThan(150)
}, 120_000)

/** Requests whose answer was not kept: they submit jobs that later recordings show. */
const request = (url: string) => `GET ${url} HTTP/1.1\r\nHost: x\r\nAuthorization: Basic YWRtaW46c2VjcmV0\r\n\r\n`
const BETWEEN: Record<string, string[]> = {
  'get-039-instance-info-inst1.gnt.example-job': [request('/2/instances/inst1.gnt.example/info')],
  'get-059-node-storage-file-job': [
    request('/2/nodes/node1.gnt.example/storage?storage_type=file&output_fields=name,size,used,free,type,allocatable'),
  ],
}

function compare({ status, type, body }: Recording, got: { status: number; type: string; body: string }): string[] {
  const want = parsed(body)
  // A number is a job's.
  const found = typeof want === 'number' && want > 2 ? [] : differences(want, parsed(got.body))
  return [
    ...(got.status === status ? [] : [`status ${got.status}, recorded was ${status}`]),
    ...(type === null || got.type.startsWith(type) ? [] : [`content type ${got.type}`]),
    ...(body.endsWith('\n') === got.body.endsWith('\n') ? [] : ['the newline at the end']),
    ...found,
  ]
}

async function ended(id: number): Promise<void> {
  for (let change: unknown = 'nochange'; change === 'nochange' || !/success|error/.test(JSON.stringify(change));)
    change = await cluster.master.waitForJobChange(
      id,
      ['status'],
      change === 'nochange' ? null : first(change),
      null,
      10,
    )
}

/** The bytes as they were sent. */
function ask(bytes: string): Promise<{ status: number; type: string; body: string }> {
  const { hostname, port } = new URL(cluster.url)
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ host: hostname, port: Number(port), rejectUnauthorized: false })
    let text = ''
    const whole = (closed: boolean) => {
      const answer = text.replace(/^HTTP\/1.1 100[^]*?\r\n\r\n/, '')
      const end = answer.indexOf('\r\n\r\n')
      const [head, body] = [answer.slice(0, end), answer.slice(end + 4)]
      const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0)
      if (!closed && (end === -1 || bytes.startsWith('HEAD') || body.length < length)) return
      socket.destroy()
      const type = /^content-type: (.*)/im.exec(head)?.[1] ?? ''
      resolve({ status: Number(head.split(' ')[1]), type, body: body.slice(0, length) })
    }
    socket.setTimeout(1000, () => whole(true))
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk
      whole(false)
    })
    socket.on('secureConnect', () => socket.write(Buffer.from(bytes, 'utf8'))).on('close', () => whole(true))
    socket.on('error', reject)
  })
}

const first = (value: unknown): unknown => (Array.isArray(value) ? (value[0] as unknown) : value)
