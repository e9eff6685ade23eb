// Replays recorded requests to a real cluster's remote API against an embedded one that begins in the same state. Each answer
// must be the recorded one, or test/golden/differences.json lists the recording with a reason.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { type EmbeddedCluster } from '../support/embedded-cluster'
import { jobEnd } from '../support/job-end'
import { rawRequest, type RawAnswer } from '../support/raw-request'
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
})
afterAll(() => cluster.remove())

test('answers reads, and after them mistakes, as recorded', async () => {
  // The mistakes were recorded later; by name they would come first.
  const [reads, mistakes] = [/^get-/, /^err-/].map((kind) => recordings.filter(({ name }) => kind.test(name)))
  const complaints: string[] = []
  for (const recording of [...(reads ?? []), ...(mistakes ?? [])]) {
    // Requests that got no answer concern the HTTP server only.
    if (recording.status === null) continue
    for (const submission of BETWEEN[recording.name] ?? []) await rawRequest(cluster.url, submission)
    const job = /^GET \/2\/jobs\/(\d+) /.exec(recording.request)
    if (/^get-.*-job$/.test(recording.name) && job) await jobEnd(cluster.master, Number(job[1]))
    complaints.push(
      ...verdict(`rapi/${recording.name}`, compare(recording, await rawRequest(cluster.url, recording.request))),
    )
  }
  expect(complaints).toEqual([])
  expect(recordings.length).toBeGreaterThan(150)
})

/** Requests whose answer was not kept: they submit jobs that later recordings show. */
const request = (url: string) => `GET ${url} HTTP/1.1\r\nHost: x\r\nAuthorization: Basic YWRtaW46c2VjcmV0\r\n\r\n`
const BETWEEN: Record<string, string[]> = {
  'get-039-instance-info-inst1.gnt.example-job': [request('/2/instances/inst1.gnt.example/info')],
  'get-059-node-storage-file-job': [
    request('/2/nodes/node1.gnt.example/storage?storage_type=file&output_fields=name,size,used,free,type,allocatable'),
  ],
}

function compare({ status, type, body }: Recording, got: RawAnswer): string[] {
  const want = parsed(body)
  // A number is a job's.
  const found = typeof want === 'number' && want > 2 ? [] : differences(want, parsed(got.body))
  return [
    ...(got.status === status ? [] : [`status ${got.status}, recorded was ${status}`]),
    ...(type === null || got.headers['content-type']?.startsWith(type)
      ? []
      : [`content type ${got.headers['content-type']}`]),
    ...(body.endsWith('\n') === got.body.endsWith('\n') ? [] : ['the newline at the end']),
    ...found,
  ]
}
