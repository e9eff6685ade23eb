// How a node's daemon asks the process that has its mirrored disks.
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as os from 'node:os'
import * as path from 'node:path'
import { systemClock as clock } from '../../../../src/lib/clock'
import { systemFiles as files } from '../../../../src/lib/files'
import { silentLog as log } from '../../../../src/lib/log'
import { pathsOf } from '../../../../src/lib/paths'
import type { Processes } from '../../../../src/lib/programs/processes'
import { runCommand as run } from '../../../../src/lib/programs/run-command'
import { systemRandom as random } from '../../../../src/lib/random'
import { beginMirror, mirrorList, mirrorsSocket, withLent } from '../../../../src/node/mirror/client'
import { type Mirrors, serveMirrors } from '../../../../src/node/mirror/server'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gm-'))
const paths = pathsOf(path.join(folder, 'n1'), 'n1')
const socket = mirrorsSocket({ paths })
let mirrors: Mirrors | undefined

const start = async () => {
  mirrors = await serveMirrors({ files, run, clock, random, log, socket, folder, end: () => undefined })
  return { feed: () => undefined }
}
const processes = { start } as unknown as Processes
const places = { paths, files, processes, clock, hostname: 'n1', mirrorProgram: ['mirrors'] as const }

beforeAll(() => {
  for (const file of [socket, paths.logFile('mirrors')]) fs.mkdirSync(path.dirname(file), { recursive: true })
})
afterEach(async () => {
  await mirrors?.close()
  mirrors = undefined
})
afterAll(() => fs.rmSync(folder, { recursive: true }))

/** One that ends with the first call. */
async function endingProcess(): Promise<void> {
  const server = net.createServer((connection) =>
    connection
      .on('error', () => undefined)
      .once('data', () => {
        server.close()
        connection.destroy()
      }),
  )
  await new Promise<void>((resolve) => server.listen(socket, resolve))
}

test('a disk begins also when the process ended for want of disks just as it was asked', async () => {
  await endingProcess()
  await beginMirror(places, 3, 'Cannot begin disk x')
  expect([...(await mirrorList(places)).keys()]).toEqual([3])
})

test('a process that ended as it was asked has no disks', async () => {
  await endingProcess()
  expect([...(await mirrorList(places))]).toEqual([])
})

test('a disk that is there does not begin again', async () => {
  await beginMirror(places, 3, 'Cannot begin disk x')
  await expect(beginMirror(places, 3, 'Cannot begin disk x')).rejects.toThrow(
    'Cannot begin disk x on node n1: minor 3 is in use already',
  )
})

describe('a process that hangs', () => {
  /** It takes connections and answers nothing, or only what the test lets it. */
  const open = new Set<net.Socket>()
  let server: net.Server
  const answering = async (answers: (method: string) => boolean): Promise<void> => {
    server = net.createServer((connection) => {
      open.add(connection.on('error', () => undefined))
      let text = ''
      connection.on('data', (data) => {
        text += data.toString('latin1')
        for (let end = text.indexOf('\x03'); end >= 0; end = text.indexOf('\x03')) {
          const { method } = JSON.parse(text.slice(0, end)) as { method: string }
          text = text.slice(end + 1)
          if (answers(method)) connection.write(`${JSON.stringify({ success: true, result: [] })}\x03`)
        }
      })
    })
    await new Promise<void>((resolve) => server.listen(socket, resolve))
  }
  afterEach(async () => {
    for (const one of open) one.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  /** Whoever waits has waited long enough. */
  const impatient = {
    ...clock,
    after: (delay_ms: number, action: () => void) => clock.after(delay_ms / 100, action),
    sleep: (delay_ms: number, signal?: AbortSignal) => clock.sleep(delay_ms / 100, signal),
  }

  test('does not hold up who asks how the disks are', async () => {
    await answering(() => false)
    await expect(mirrorList({ ...places, clock: impatient })).rejects.toThrow(
      'Cannot list mirrored disks on node n1: the process of this node that has its mirrored disks',
    )
  })

  test('does not hold up who has given a lent file back', async () => {
    await answering((method) => method === 'lend')
    const loan = { socket, minor: 1, how: 'to write' } as const
    await expect(withLent(impatient, loan, () => Promise.resolve())).rejects.toThrow('that has its mirrored disks')
  })

  test('is told from one that copies for a long time', async () => {
    let probes = 0
    let copied: () => void = () => undefined
    const copying = new Promise<void>((resolve) => (copied = resolve))
    await answering((method) => {
      if (method === 'list' && ++probes === 3) copied()
      return method !== 'giveBack'
    })
    const work = withLent(impatient, { socket, minor: 1, how: 'to write' }, () => Promise.resolve()).catch(
      () => 'ended',
    )
    await copying
    for (const one of open) one.destroy()
    expect(await work).toBe('ended')
  })
})
