// How the LUXI server treats clients that leave, and answers that are long.
import { mkdtempSync, rmSync } from 'node:fs'
import * as net from 'node:net'
import * as os from 'node:os'
import * as path from 'node:path'
import { systemClock } from '../../../../src/lib/clock'
import { serveLuxi } from '../../../../src/daemons/luxid/server'
import type { FramedServer } from '../../../../src/lib/net/json-socket'
import { UnsettledAppend } from '../../../../src/lib/file/unsettled-append'
import { PeerError } from '../../../../src/rpc/json-protocol'
import { silentLog } from '../../../../src/lib/log'
import { tableText } from '../../../../src/rpc/long-answers'
import type { Master } from '../../../../src/rpc/luxi/master'
import { LuxiClient } from '../../../../src/rpc/luxi/client'

let folder: string
let servers: FramedServer[]
const submitted: string[] = []
/** Slices of what is answered to a question for nodes. */
let rows: string[] = []

beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'gantry-luxi-'))
  const text: Pick<Master['text'], 'queryNodes'> = { queryNodes: async () => tableText('[', rows, ']') }
  const master: Pick<Master, 'submitJob' | 'queryConfigValues' | 'text'> = {
    text: text as Master['text'],
    async submitJob([op]) {
      if (op?.OP_ID === 'OP_CLUSTER_DESTROY') throw new UnsettledAppend('journal', new Error('EIO'))
      return submitted.push(String(op?.OP_ID))
    },
    queryConfigValues: async () => ['here'],
  }
  servers = await serveLuxi([`${folder}/luxi`], master as Master, silentLog)
})

afterAll(async () => {
  for (const server of servers) await server.close()
  rmSync(folder, { recursive: true })
})

test('a submission is not begun for somebody who has left before it was heard', async () => {
  const call = (OP_ID: string) => `${JSON.stringify({ method: 'SubmitJob', args: [[{ OP_ID, reason: [] }]] })}\x03`
  // As for a daemon that was stopped: the call and the end of its connection are there at the same time.
  const hasty = net.connect(`${folder}/luxi`)
  hasty.on('error', () => undefined).resume()
  hasty.end(call('OP_CLUSTER_REDIST_CONF'))
  await new Promise((resolve) => hasty.once('close', resolve))
  const patient = new LuxiClient({ clock: systemClock, path: `${folder}/luxi` })
  expect(await patient.queryConfigValues(['cluster_name'])).toEqual(['here'])
  expect(submitted).toEqual([])
  expect(await patient.submitJob([{ OP_ID: 'OP_CLUSTER_QUERY', reason: [] }])).toBe(1)
  expect(submitted).toEqual(['OP_CLUSTER_QUERY'])
  patient.close()
})

test('nobody is told of a failure that may not be one', async () => {
  const client = new LuxiClient({ clock: systemClock, path: `${folder}/luxi` })
  const failed = client.submitJob([{ OP_ID: 'OP_CLUSTER_DESTROY', reason: [] }])
  await expect(failed).rejects.toBeInstanceOf(PeerError)
  client.close()
})

test('a short answer is one message to the system, a long one is sent as it comes', async () => {
  const client = net.connect(`${folder}/luxi`)
  const received: string[] = []
  client.setEncoding('utf8').on('data', (text: string) => received.push(text))
  const ask = async (slices: string[]): Promise<number> => {
    rows = slices
    const [connection] = servers.flatMap((server) => [...server.connections])
    const written = connection === undefined ? undefined : jest.spyOn(connection.socket, 'write')
    received.length = 0
    client.write(`${JSON.stringify({ method: 'QueryNodes', args: [[], ['name'], false] })}\x03`)
    while (!received.join('').endsWith('\x03')) await new Promise((resolve) => client.once('data', resolve))
    expect(JSON.parse(received.join('').slice(0, -1))).toEqual({
      success: true,
      result: slices.map((one) => JSON.parse(one)),
    })
    const count = written?.mock.calls.length ?? 0
    written?.mockRestore()
    return count
  }
  await ask(['["node1"]'])
  expect(await ask(['["node1"]'])).toBe(1)
  const long = `["${'x'.repeat(100_000)}"]`
  expect(await ask([long, long, long])).toBeGreaterThan(2)
  expect(await ask(['["node1"]', long])).toBeGreaterThan(1)
  client.destroy()
})
