// Replays 140 recorded requests that change a real cluster, with their jobs, against an embedded one that begins in the same
// state. Answers, results and logs must equal the recorded ones to the byte, except for random values and times. Otherwise
// test/golden/differences.json lists the recording with a reason.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { gunzipSync } from 'node:zlib'
import listed from '../golden/differences.json'
import { Correspondence } from '../support/correspondence'
import { type EmbeddedCluster } from '../support/embedded-cluster'
import { jobEnd } from '../support/job-end'
import { rawRequest } from '../support/raw-request'
import { startRecordedCluster } from '../support/recorded-state'

interface Recording {
  name: string
  request: string
  status: number
  body: string
}
const golden = path.join(__dirname, '../golden')
const recordings = JSON.parse(
  gunzipSync(fs.readFileSync(path.join(golden, 'flows/recordings.json.gz'))).toString('utf8'),
) as Recording[]

let cluster: EmbeddedCluster
beforeAll(async () => {
  cluster = await startRecordedCluster(733)
})
afterAll(() => cluster.remove())

test('a cluster goes through changes as recorded', async () => {
  const correspondence = new Correspondence(fs.readFileSync(path.join(golden, 'state/config.data'), 'utf8'))
  const complaints: string[] = []
  for (const { name, request, status, body } of inOrder(recordings).map(asOurs)) {
    const job = /^GET \/2\/jobs\/(\d+) /.exec(request)
    if (job) await jobEnd(cluster.master, Number(job[1]))
    const got = await rawRequest(cluster.url, correspondence.translated(request))
    const found = [
      ...(got.status === status ? [] : [`status ${got.status}, recorded was ${status}`]),
      ...(got.headers['content-type'] === 'application/json' ? [] : [`content type ${got.headers['content-type']}`]),
      ...correspondence.differences(body, got.body),
    ]
    complaints.push(...found.map((text) => `${name}: ${text}`))
  }
  expect(complaints).toEqual([])
  expect(recordings.length).toBeGreaterThan(140)
})

test('answers that differ on purpose are listed with the words that differ', () => {
  const names = recordings.map(({ name }) => `flows/${name}`)
  const flows = listed.filter(({ recording }) => recording.startsWith('flows/'))
  expect(flows.filter(({ recording, ours }) => !names.includes(recording) || ours === undefined)).toEqual([])
})

/** The recording with what is listed put in its place: so nothing else may differ in it, and it must differ in that. */
function asOurs(recording: Recording): Recording {
  const ours = listed.find((entry) => entry.recording === `flows/${recording.name}`)?.ours
  if (ours === undefined) return recording
  let { body } = recording
  for (const [theirs = '', mine = ''] of ours.texts) {
    if (!body.includes(theirs)) throw new Error(`${recording.name}: nothing like ${theirs} was recorded`)
    body = body.replace(theirs, () => mine)
  }
  return { ...recording, status: ours.status ?? recording.status, body }
}

/** 3.0.2 refused this request, but here it becomes a job, with a number and a new name. It runs last, where both do no harm. */
const inOrder = (all: readonly Recording[]) => [
  ...all.filter(({ name }) => name !== AT_THE_END),
  ...all.filter(({ name }) => name === AT_THE_END),
]
const AT_THE_END = 'flow-040-network-rename-na'
