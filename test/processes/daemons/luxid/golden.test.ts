// Sends requests that a real luxid was sent to ours: the same bytes in must give the same values out.
import { readFileSync, readdirSync, writeFileSync, mkdirSync } from 'node:fs'
import * as net from 'node:net'
import * as path from 'node:path'
import type { Luxid } from '../../../../src/daemons/luxid/luxid'
import type { Paths } from '../../../../src/lib/paths'
import { removeRoot, temporaryPaths } from '../../../support/queue-in-process'
import { startTinyLuxid } from '../../../support/tiny-luxid'

const golden = path.join(__dirname, '../../../golden')
/** Recordings that depend on jobs which other recordings had submitted; jobs.test.ts has the same calls with jobs of its own. */
const NEEDS_JOBS = /^(076|077|093|10[1-9]|11|12[0-3]|12[6-9]|13[0-3]|144|169)/
/** After changes that were not recorded: the rule of 082 got another uuid, the drain flag was set, a tag was added. */
/** And 024 shows free memory, which is measured anew by each query. */
const NEEDS_HISTORY = /^(024|083|151|154|158|165)/

interface Recording {
  request: string
  response: string
}

let paths: Paths
let luxid: Luxid

beforeAll(async () => {
  paths = temporaryPaths()
  mkdirSync(paths.queueDir, { recursive: true })
  writeFileSync(`${paths.queueDir}/serial`, '715\n')
  luxid = await startTinyLuxid(paths)
})

afterAll(async () => {
  await luxid.close()
  await removeRoot(paths)
})

const files = readdirSync(`${golden}/luxi`).filter((name) => !NEEDS_JOBS.test(name) && !NEEDS_HISTORY.test(name))

test.each(files)('%s', async (name) => {
  const recorded = JSON.parse(readFileSync(`${golden}/luxi/${name}`, 'utf8')) as Recording
  const { text, closed } = await exchange(recorded.request)
  expect(comparable(JSON.parse(text))).toEqual(comparable(JSON.parse(recorded.response.slice(0, -1))))
  expect(closed).toBe(name.includes('-CLOSED'))
})

/** Texts that explain fields are our own; uuids and what nodes measure differ. */
function comparable(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'uuid')
  if (Array.isArray(value)) return value.map(comparable)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([key]) => key !== 'doc')
  return Object.fromEntries(entries.map(([key, part]) => [key, comparable(part)]))
}

function exchange(request: string): Promise<{ text: string; closed: boolean }> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(paths.socket('query'), () => socket.write(request))
    let text = ''
    const answered = () => text.endsWith('\x03')
    socket.setEncoding('utf8').on('error', reject)
    socket.on('data', (piece: string) => {
      text += piece
      if (answered()) setTimeout(() => socket.destroy(), 50)
    })
    let ended = false
    socket.on('end', () => (ended = true))
    socket.on('close', () => resolve({ text: text.slice(0, -1), closed: ended }))
  })
}
