// Consoles of a node, with a hypervisor and serial lines of this process.
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as os from 'node:os'
import * as path from 'node:path'
import { type Duplex, duplexPair } from 'node:stream'
import { silentLog } from '../../../../src/lib/log'
import { NODE_CONSOLES_MAX } from '../../../../src/model/limits/consoles'
import { NodeConsoles } from '../../../../src/node/consoles/node-consoles'
import type { Hypervisor, HypervisorConsoles } from '../../../../src/node/hypervisor/hypervisor'
import { settled, SteppedClock } from '../../../support/stepped-clock'

let folder: string
let server: net.Server
let ends: net.Socket[]
let received: string
beforeEach(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'consoles-'))
  ;[ends, received] = [[], '']
  server = net.createServer((end) => void ends.push(end.on('data', (keys) => (received += keys.toString()))))
  await new Promise<void>((resolve) => server.listen(path.join(folder, 'serial'), resolve))
})
afterEach(async () => {
  for (const end of ends) end.destroy()
  await new Promise((resolve) => server.close(resolve))
  fs.rmSync(folder, { recursive: true })
})

function node() {
  const clock = new SteppedClock()
  const state = { runs: true, taken: false, resumed: 0 }
  let news: () => void = () => undefined
  const consoles: HypervisorConsoles = {
    find: () => Promise.resolve(state.runs ? { kind: 'serial', socket: path.join(folder, 'serial') } : undefined),
    isTaken: () => Promise.resolve(state.taken),
    resume: () => Promise.resolve(void state.resumed++),
    watch: (_name, callback) => {
      news = callback
      return { close: () => undefined }
    },
  }
  const hypervisor = (name: string) => (name === 'kvm' ? { consoles } : {}) as Hypervisor
  const all = new NodeConsoles({ hypervisor, hostname: 'node1', clock, log: silentLog })
  return { all, clock, state, tell: () => news() }
}

const REQUEST = { name: 'vm1', uuid: 'u-1', hypervisor: 'kvm', kind: 'serial', read_only: false, recent: true }

/** The master's end of a console. */
function opened(all: NodeConsoles, request: object = REQUEST) {
  const [line, master] = duplexPair({ objectMode: true })
  const reported: unknown[] = []
  master.on('data', (message: unknown) =>
    reported.push(typeof message === 'string' ? JSON.parse(message) : String(message)),
  )
  const served = all.serve(line)
  master.write(JSON.stringify(request))
  return { told: reported, master, served }
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5))
}

const leave = async ({ master, served }: { master: Duplex; served: Promise<void> }): Promise<void> => {
  master.end()
  await served
}

test('what is typed counts when its viewer has seen the present connection', async () => {
  const { all, state } = node()
  const console1 = opened(all)
  await until(() => console1.told.length === 1 && ends.length === 1)
  expect(console1.told).toEqual([{ state: 'connected', number: 1 }])
  console1.master.write(Buffer.from('early'))
  console1.master.write('1')
  console1.master.write(Buffer.from('ls'))
  await until(() => received !== '')
  expect([received, state.resumed]).toEqual(['ls', 1])
  ends[0]?.write('a file')
  await until(() => console1.told.length === 2)
  expect(console1.told[1]).toBe('a file')
  await leave(console1)
})

test('who may only look types nothing, and changes nothing', async () => {
  const { all, state } = node()
  const looking = opened(all, { ...REQUEST, read_only: true })
  await until(() => looking.told.length === 1 && ends.length === 1)
  looking.master.write('1')
  looking.master.write(Buffer.from('rm'))
  await leave(looking)
  // Whatever was sent is there before the end.
  await until(() => ends[0]?.readableEnded === true)
  expect([received, state.resumed]).toEqual(['', 0])
})

test('a console waits for an instance that does not run, and begins when there is news of it', async () => {
  const { all, state, tell } = node()
  state.runs = false
  const waiting = opened(all)
  await until(() => waiting.told.length === 1)
  expect(waiting.told).toEqual([{ state: 'waiting', why: 'stopped', text: 'vm1 does not run on node1' }])
  state.runs = true
  tell()
  await until(() => waiting.told.length === 2)
  expect(waiting.told[1]).toEqual({ state: 'connected', number: 1 })
  // Its start may need the monitor.
  expect(state.resumed).toBe(0)
  await leave(waiting)
})

test('a line that breaks off is connected again with another number', async () => {
  const { all } = node()
  const watching = opened(all)
  await until(() => ends.length === 1)
  ends[0]?.destroy()
  await until(() => watching.told.length === 2)
  expect(watching.told[1]).toEqual({ state: 'connected', number: 2 })
  await leave(watching)
})

test('a line that another program has is waited for, and tried again', async () => {
  const { all, clock, state } = node()
  state.taken = true
  const waiting = opened(all)
  await until(() => waiting.told.length === 1)
  expect(waiting.told).toMatchObject([{ state: 'waiting', why: 'held' }])
  state.taken = false
  await clock.pass(60)
  await until(() => waiting.told.length === 2)
  expect(waiting.told[1]).toMatchObject({ state: 'connected' })
  await leave(waiting)
})

test('what cannot be served is refused with the reason', async () => {
  const { all } = node()
  const fake = opened(all, { ...REQUEST, hypervisor: 'fake' })
  await fake.served
  expect(fake.told).toMatchObject([{ state: 'failed', text: expect.stringContaining('fake have no consoles') }])
  const many = Array.from({ length: NODE_CONSOLES_MAX }, () => opened(all))
  const refused = opened(all)
  await refused.served
  await settled()
  expect(refused.told).toMatchObject([
    { state: 'failed', text: expect.stringContaining(`${NODE_CONSOLES_MAX} consoles`) },
  ])
  all.close()
  await Promise.all(many.map(({ served }) => served))
})
