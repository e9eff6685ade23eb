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
import { beginMirror, mirrorList, mirrorsSocket } from '../../../../src/node/mirror/client'
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
