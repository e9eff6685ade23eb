// The client of LUXI, when luxid is away and when its caller is.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { systemClock } from '../../../../src/lib/clock'
import { type FramedServer } from '../../../../src/lib/net/json-socket'
import { silentLog } from '../../../../src/lib/log'
import { GenericError } from '../../../../src/model/errors'
import { RAPI_SHORT_BYTES_MAX } from '../../../../src/model/limits/rapi'
import { type CallHandlers, PeerError, serveCalls } from '../../../../src/rpc/json-protocol'
import { LuxiClient } from '../../../../src/rpc/luxi/client'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-luxi-'))
const socket = `${folder}/s`
let server: FramedServer | undefined

const serve = async (handlers: CallHandlers) => {
  server = await serveCalls({ path: socket, maxFrame: 4096, log: silentLog }, handlers)
}
const handlers = { QueryClusterInfo: () => ({ name: 'c' }), SubmitJob: () => 7, GantryTokens: () => [] }

afterEach(async () => {
  await server?.close()
  server = undefined
})
afterAll(() => fs.rmSync(folder, { recursive: true }))

/** A client that waits for restarts, and at each wait does what is given. */
function patient(onRestart: () => void): LuxiClient {
  return new LuxiClient({ clock: systemClock, path: socket, onRestart })
}

test('a call that cannot be sent waits for the daemon to come back, and says so once', async () => {
  let waits = 0
  const client = patient(() => {
    waits++
    void serve(handlers)
  })
  await expect(client.submitJob([])).resolves.toBe(7)
  expect(waits).toBe(1)
  client.close()
})

test('a question that lost its answer is asked again, a submission is not', async () => {
  await serve({ QueryClusterInfo: hangUp, SubmitJob: hangUp, GantryTokens: hangUp })
  const client = patient(() => void server?.close().then(() => serve(handlers)))
  await expect(client.queryClusterInfo()).resolves.toEqual({ name: 'c' })
  await server?.close()
  await serve({ GantryTokens: hangUp })
  const identity = { user: 'u', token: null, permissions: [] }
  await expect(client.gantry?.tokens(identity)).resolves.toEqual([])
  await server?.close()
  await serve({ SubmitJob: hangUp })
  await expect(client.submitJob([])).rejects.toMatchObject({ kind: 'lost' })
  client.close()
})

test('without being told to wait it fails at once', async () => {
  const client = new LuxiClient({ clock: systemClock, path: socket })
  await expect(client.queryClusterInfo()).rejects.toThrow(PeerError)
  client.close()
})

test('callers that ask for the cluster in one turn of the event loop share a call; a later one hears of a change', async () => {
  let calls = 0
  let name = 'one'
  const answer = () => {
    calls++
    return { name }
  }
  await serve({ QueryClusterInfo: answer })
  const client = new LuxiClient({ clock: systemClock, path: socket })
  const answers = await Promise.all([client.queryClusterInfo(), client.queryClusterInfo()])
  expect(calls).toBe(1)
  expect(answers[0]).toBe(answers[1])
  expect(await client.queryClusterInfo()).toBe(answers[0])
  name = 'two'
  expect(await client.queryClusterInfo()).toEqual({ name: 'two' })
  client.close()
})

const hangUp: CallHandlers[string] = (_, connection) => {
  connection.destroy()
  return new Promise(() => undefined)
}

test('a caller that leaves hangs up, so that nobody thinks for nobody, and can ask again', async () => {
  const leaving = new AbortController()
  let left = (): void => undefined
  const noticed = new Promise<void>((resolve) => (left = resolve))
  await serve({
    ...handlers,
    GantryBalance: (args, { signal }) => {
      expect(args).toEqual([anna, {}, null])
      signal.addEventListener('abort', left)
      leaving.abort()
      return new Promise(() => undefined)
    },
  })
  const client = new LuxiClient({ clock: systemClock, path: socket })
  await expect(client.gantry.balance(anna, {}, null, leaving.signal)).rejects.toThrow(PeerError)
  await noticed
  await expect(client.submitJob([])).resolves.toBe(7)
  client.close()
})

const anna = { user: 'anna', token: null, permissions: [] }

test('texts come unread: short ones over a connection that is kept, and what was long before over one of its own', async () => {
  const connections = new Set<unknown>()
  let rows: unknown[] = [['vm1', 'é']]
  await serve({
    QueryInstances: (_args, connection) => {
      connections.add(connection)
      return rows
    },
    QueryNodes: () => {
      throw new GenericError('no')
    },
  })
  const client = new LuxiClient({ clock: systemClock, path: socket })
  const ask = async () => {
    let text = ''
    for await (const piece of (await client.text.queryInstances([], ['name'], false)).pieces) text += piece.toString()
    return JSON.parse(text) as unknown
  }
  expect([await ask(), await ask()]).toEqual([rows, rows])
  expect(connections.size).toBe(1)
  rows = [['x'.repeat(RAPI_SHORT_BYTES_MAX)]]
  expect(await ask()).toEqual(rows)
  expect(connections.size).toBe(1)
  expect(await ask()).toEqual(rows)
  expect(connections.size).toBe(2)
  await expect(client.text.queryNodes([], ['name'], false)).rejects.toThrow('no')
  client.close()
})
