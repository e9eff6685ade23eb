// Our client against a node daemon that is as Ganeti's: it answers once in a connection, takes no TLS session twice, and hangs up
// on calls that it does not know.
import { EventEmitter, once } from 'node:events'
import * as fs from 'node:fs'
import * as https from 'node:https'
import type { AddressInfo } from 'node:net'
import * as os from 'node:os'
import * as path from 'node:path'
import { TLSSocket } from 'node:tls'
import { systemClock } from '../../../../src/lib/clock'
import { systemFiles } from '../../../../src/lib/files'
import { pathsOf } from '../../../../src/lib/paths'
import { createCertificate, createClientCertificate, nodeServerTls } from '../../../../src/lib/tls'
import { nodeUuid } from '../../../../src/model/ids'
import { NODE_SOFTWARE_S } from '../../../../src/model/limits/node-calls'
import type { ArgsOf } from '../../../../src/rpc/node/calls'
import { isUnknownCall, openNodeClient } from '../../../../src/rpc/node/client'
import { SteppedClock } from '../../../support/stepped-clock'

const HOST = 'node1.example.com'
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-client-'))
const paths = pathsOf(path.join(folder, HOST), HOST)
const target = {
  uuid: nodeUuid('6579ba41-4950-4722-b2a1-7f1efa659aad'),
  name: HOST,
  primary_ip: '127.0.0.1',
  offline: false,
}

let server: https.Server
let software: Record<string, string>
/** As our node daemon does. */
let keeps = false
const resumed: boolean[] = []
const requested: (string | undefined)[] = []

beforeAll(async () => {
  fs.mkdirSync(paths.dataDir, { recursive: true })
  const pem = await createCertificate()
  fs.writeFileSync(paths.serverCert, pem)
  fs.writeFileSync(paths.clientCert, await createClientCertificate(pem, HOST))
  server = https.createServer(nodeServerTls(systemFiles, paths), (request, response) => {
    if (request.socket instanceof TLSSocket) resumed.push(request.socket.isSessionReused())
    requested.push(request.url)
    if (request.url !== '/version') return request.socket.destroy()
    response.writeHead(200, { ...software, Connection: keeps ? 'keep-alive' : 'close' }).end('[true, 3000000]\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve))
  fs.rmSync(folder, { recursive: true })
})

const client = () =>
  openNodeClient({ files: systemFiles, clock: systemClock, paths, port: (server.address() as AddressInfo).port })

test('no TLS session is resumed', async () => {
  software = { Server: 'Ganeti 3.0.2' }
  const nodes = client()
  for (let n = 0; n < 3; n++) await expect(nodes.one(target, 'version', [])).resolves.toBe(3000000)
  expect(resumed).toEqual([false, false, false])
  nodes.close()
})

test('a node of Ganeti that hangs up on a call of ours does not know it', async () => {
  software = { Server: 'Ganeti 3.0.2' }
  const nodes = client()
  const failure: unknown = await nodes.one(target, 'gantry_metrics', []).catch((error: unknown) => error)
  expect(String(failure)).toContain('the node does not know this call')
  expect(isUnknownCall(failure)).toBe(true)
  await expect(nodes.one(target, 'vg_list', [])).rejects.toThrow('closed the connection before it answered')
  nodes.close()
})

test('whether a node is of Ganeti is learnt from its answers, and asked when they are old', async () => {
  software = { Server: 'Ganeti 3.0.2' }
  const clock = new SteppedClock()
  const nodes = openNodeClient({ files: systemFiles, paths, clock, port: (server.address() as AddressInfo).port })
  const unknown = () => expect(nodes.one(target, 'gantry_metrics', [])).rejects.toThrow('does not know this call')
  const urls = () => requested.splice(0)
  urls()
  await unknown()
  await unknown()
  expect(urls()).toEqual(['/gantry_metrics', '/version', '/gantry_metrics'])
  await clock.pass(NODE_SOFTWARE_S)
  await nodes.one(target, 'version', [])
  await unknown()
  expect(urls()).toEqual(['/version', '/gantry_metrics'])
  software = {}
  await nodes.one(target, 'version', [])
  await expect(nodes.one(target, 'gantry_metrics', [])).rejects.toThrow('closed the connection before it answered')
  expect(urls()).toEqual(['/version', '/gantry_metrics', '/version'])
  nodes.close()
})

test('an idle connection that the node ends is told of with its address, and one that we end is not', async () => {
  software = {}
  keeps = true
  const port = (server.address() as AddressInfo).port
  const hangUps = new EventEmitter()
  const reported: string[] = []
  hangUps.on('told', (address: string) => reported.push(address))
  const onHangUp = (address: string) => void hangUps.emit('told', address)
  const options = { files: systemFiles, clock: systemClock, paths, port, onHangUp }
  const [nodes, closed] = [openNodeClient(options), openNodeClient(options)]
  await expect(nodes.one(target, 'version', [])).resolves.toBe(3000000)
  const received = once(hangUps, 'told')
  server.closeIdleConnections()
  await received
  nodes.close()
  const [[socket]] = await Promise.all([once(server, 'secureConnection'), closed.one(target, 'version', [])])
  closed.close()
  await once(socket as TLSSocket, 'close')
  expect(reported).toEqual(['127.0.0.1'])
  keeps = false
})

test('a node of ours that hangs up was only interrupted', async () => {
  software = {}
  const nodes = client()
  await expect(nodes.one(target, 'gantry_metrics', [])).rejects.toThrow('closed the connection before it answered')
  nodes.close()
})

test('arguments that are frozen are written once, however many calls they are for', async () => {
  const bodies: string[] = []
  const exchange = (_target: unknown, _call: unknown, body: string) => {
    bodies.push(body)
    return Promise.resolve('[true, {}]')
  }
  const nodes = openNodeClient({ paths, transport: { exchange, close: () => undefined } })
  let written = 0
  const hvparams = { toJSON: () => ({ written: ++written }) }
  const args: ArgsOf<'all_instances_info'> = [['kvm'], { kvm: hvparams }]
  Object.freeze(args)
  for (let n = 0; n < 3; n++) await nodes.all([target], 'all_instances_info', args)
  await nodes.one(target, 'all_instances_info', args)
  expect(bodies).toEqual(Array(4).fill('[["kvm"],{"kvm":{"written":1}}]'))
})
