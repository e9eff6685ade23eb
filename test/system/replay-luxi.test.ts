// Replays recorded LUXI requests of a real cluster against an embedded one that begins in the same state. Each answer must be
// the recorded one, or test/golden/differences.json lists the recording with a reason.
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as path from 'node:path'
import { type EmbeddedCluster } from '../support/embedded-cluster'
import { startRecordedCluster } from '../support/recorded-state'
import { differences, parsed, sameShape, verdict } from '../support/replay'

const golden = path.join(__dirname, '../golden')

interface Recording {
  request: string
  /** Empty where the connection was closed. */
  response: string
}
const folder = path.join(golden, 'luxi')
const names = fs.readdirSync(folder).map((file) => file.replace('.json', ''))
let cluster: EmbeddedCluster
beforeAll(async () => {
  cluster = await startRecordedCluster(715)
})
afterAll(() => cluster.remove())

test('answers as recorded, and closes connections where Ganeti does', async () => {
  const complaints: string[] = []
  for (const name of names.sort()) {
    const { request, response } = JSON.parse(fs.readFileSync(path.join(folder, `${name}.json`), 'utf8')) as Recording
    await BEFORE[name]?.()
    const [want, got] = [translated(response), await ask(translated(request))].map((text) =>
      parsed(text.replace(/\x03$/, '')),
    )
    const isThere = MOMENTARY.has(name) && sameShape(want, got)
    complaints.push(...verdict(`luxi/${name}`, isThere ? [] : differences(want, got)))
    learn(resultOf(want), resultOf(got))
  }
  expect(complaints).toEqual([])
  expect(names.length).toBeGreaterThan(120)
})

/** How far a job has come there is a matter of the moment. */
const MOMENTARY = new Set([
  '107-WaitForJobChange-1',
  '113-ChangeJobPriority-running',
  '121-WaitForJobChange-log',
  '122-WaitForJobChange-log-after1',
  '123-QueryJobs-oplog',
])

/** Recorded uuids of what was made, and ours; a moment and an age that lay beyond all jobs then, and ones that still do. */
const ours = new Map([
  ['[86400, 29]', '[3153600000, 29]'],
  ['1.795236162722261e9', '4102444800.722261'],
  ['1795236162', '4102444800'],
])
const translated = (text: string) => [...ours].reduce((now, [from, to]) => now.replaceAll(from, to), text)
const learn = (want: unknown, got: unknown) => {
  if (typeof want === 'string' && typeof got === 'string' && UUID.test(want)) ours.set(want, got)
}

const submit = () => cluster.master.submitJob([])

/** Requests that were made between the recordings and not recorded. */
const BEFORE: Record<string, () => Promise<unknown>> = {
  '093-SubmitManyJobs': submit,
  '097-SubmitJob-bad-opid-CLOSED': async () => [await submit(), await submit()],
  '110-WaitForJobChange-timeout1': () => until(725, 'running'),
  '117-WaitForJobChange-strid': () => until(725, 'success'),
  '126-SubmitJob-long': submit,
  '140-ArchiveJob-ok': submit,
  '144-Query-job-status': () => until(728, 'success'),
  '151-QueryConfigValues-drained': () => cluster.master.setDrainFlag(true),
  '169-cleanup-tag': async () => [await submit(), await submit()],
}

async function until(id: number, desired: string): Promise<void> {
  for (let observed: unknown = null; ;) {
    const change = await cluster.master.waitForJobChange(id, ['status'], observed, null, 10)
    if (change !== 'nochange' && change?.[0][0] === desired) return
    observed = change === 'nochange' || change === null ? observed : change[0]
  }
}

function ask(request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(cluster.socket, () => socket.write(request))
    let text = ''
    const finish = () => {
      socket.destroy()
      resolve(text)
    }
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      if (text.includes('\x03')) finish()
    })
    socket.on('close', finish).on('error', reject)
  })
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const resultOf = (answer: unknown): unknown =>
  typeof answer === 'object' && answer !== null && 'result' in answer ? answer.result : undefined
