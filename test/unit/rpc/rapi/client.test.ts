// The client of another cluster's remote API.
import * as https from 'node:https'
import type { AddressInfo } from 'node:net'
import { systemClock } from '../../../../src/lib/clock'
import { createCertificate } from '../../../../src/lib/tls'
import { openRapi, RapiRefusal, RapiSilence, type RapiAccess } from '../../../../src/rpc/rapi/client'

let server: https.Server
let access: RapiAccess
let answer: { status: number; text: string } | 'hang up'
let requested: { method: string; url: string; auth: string; body: string }

beforeAll(async () => {
  const pem = await createCertificate()
  server = https.createServer({ key: pem, cert: pem }, (request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (piece: string) => (body += piece))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      requested = { method, url, auth: headers.authorization ?? '', body }
      if (answer === 'hang up') return request.socket.destroy()
      response.writeHead(answer.status).end(answer.text)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  access = { host: '127.0.0.1', port, ca: pem, user: 'ann', password: 'secret' }
})
afterAll(() => new Promise((resolve) => server.close(resolve)))

const ask = (how: Partial<RapiAccess> = {}) =>
  openRapi({ ...access, ...how }, systemClock)
    .call('GET', '/2/jobs/7/wait', { fields: ['status'] })
    .catch((error: unknown) => error)

test('a request carries its body, also that of a GET, and who asks', async () => {
  answer = { status: 200, text: '{"job_info": ["running"]}' }
  expect(await ask()).toEqual({ job_info: ['running'] })
  const auth = `Basic ${Buffer.from('ann:secret').toString('base64')}`
  expect(requested).toEqual({ method: 'GET', url: '/2/jobs/7/wait', auth, body: '{"fields":["status"]}' })
})

test("a refusal has its status and the cluster's words", async () => {
  answer = { status: 404, text: '{"code": 404, "message": "Nothing matches", "explain": "no such job"}' }
  const refusal = await ask()
  expect(refusal).toBeInstanceOf(RapiRefusal)
  expect(refusal).toMatchObject({ status: 404, message: expect.stringMatching(/404 Nothing matches: no such job$/) })
  answer = { status: 200, text: '<html>' }
  expect(await ask()).toMatchObject({ message: expect.stringMatching(/the answer is not JSON/) })
})

test('a cluster that does not answer, or is another one, is told from one that refuses', async () => {
  answer = 'hang up'
  expect(await ask()).toBeInstanceOf(RapiSilence)
  answer = { status: 502, text: '{"message": "the master is away"}' }
  expect(await ask()).toBeInstanceOf(RapiSilence)
  answer = { status: 200, text: '1' }
  const stranger = await ask({ ca: await createCertificate() })
  expect(stranger).toBeInstanceOf(RapiSilence)
  expect(stranger).toMatchObject({ message: expect.stringMatching(/certificate/) })
})
