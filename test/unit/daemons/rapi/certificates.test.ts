// The certificate that the remote API shows, where the administrator has one of another authority; and none.
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import * as path from 'node:path'
import * as tls from 'node:tls'
import { X509Certificate } from 'node:crypto'
import { createCertificate } from '../../../../src/lib/tls'
import type { Master } from '../../../../src/rpc/luxi/master'
import { Harness, RecordedMaster } from './harness'

const master = new RecordedMaster() as unknown as Master
const directory = mkdtempSync(path.join(tmpdir(), 'gantry-certificates-'))
afterAll(() => rmSync(directory, { recursive: true }))

/** Key and certificate apart, as other programs write them. */
async function written(name: string) {
  const pem = await createCertificate({ names: [name] })
  const files = { key: path.join(directory, 'key.pem'), cert: path.join(directory, 'cert.pem') }
  writeFileSync(files.cert, new X509Certificate(pem).toString())
  writeFileSync(files.key, pem.replace(/-----BEGIN CERTIFICATE[\s\S]*/, ''))
  return files
}

async function displayed({ rapi }: Harness): Promise<string | undefined> {
  const socket = tls.connect({ host: '127.0.0.1', port: rapi.addresses[0]?.port, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { subjectaltname } = socket.getPeerCertificate()
  socket.destroy()
  return subjectaltname
}

test('its files may be two, and each is followed', async () => {
  const harness = await Harness.start(master, { certificate: await written('one.example.com') })
  expect(await displayed(harness)).toBe('DNS:one.example.com')
  await written('another.example.com')
  expect(await displayed(harness)).toBe('DNS:another.example.com')
  await harness.stop()
})

test('without one it speaks plain HTTP, as a proxy on the same machine wants it', async () => {
  const harness = await Harness.start(master, { certificate: 'none' })
  const answer = await fetch(`http://127.0.0.1:${harness.rapi.addresses[0]?.port}/version`)
  expect(answer.status).toBe(401)
  await harness.stop()
})
