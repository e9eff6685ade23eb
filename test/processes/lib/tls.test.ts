// The certificates that a cluster makes, who signs them, and what servers show of them.
import { execFileSync } from 'node:child_process'
import * as crypto from 'node:crypto'
import { once } from 'node:events'
import * as fs from 'node:fs'
import type { AddressInfo } from 'node:net'
import * as os from 'node:os'
import * as path from 'node:path'
import * as tls from 'node:tls'
import { systemFiles } from '../../../src/lib/files'
import { pathsOf } from '../../../src/lib/paths'
import { silentLog } from '../../../src/lib/log'
import {
  certificateDigest,
  certificateEnd_ms,
  createCertificate,
  createClientCertificate,
  followCertificate,
  keyAndCertificate,
  nodeClientTls,
  nodeServerTls,
} from '../../../src/lib/tls'

test('the cluster certificate signs itself, carries its key, and lasts five years', async () => {
  const pem = await createCertificate()
  const certificate = new crypto.X509Certificate(pem)
  expect(certificate.subject).toBe('CN=ganeti.example.com')
  expect(certificate.issuer).toBe(certificate.subject)
  expect(certificate.checkPrivateKey(crypto.createPrivateKey(pem))).toBe(true)
  expect(certificate.verify(certificate.publicKey)).toBe(true)
  // A handshake costs the server a tenth of what it costs with RSA.
  expect(certificate.publicKey.asymmetricKeyDetails).toMatchObject({ namedCurve: 'prime256v1' })
  expect(certificateEnd_ms(pem) - Date.now()).toBeGreaterThan(1824 * 86400_000)
})

test('a damaged file of a certificate is named, with the way out', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-pem-'))
  try {
    const paths = pathsOf(folder, 'node1')
    fs.mkdirSync(paths.dataDir, { recursive: true })
    const pem = await createCertificate()
    const half = pem.slice(0, pem.length / 2)
    for (const content of ['', half, '\0'.repeat(1000)]) {
      for (const file of [paths.serverCert, paths.rapiCert]) fs.writeFileSync(file, content)
      expect(() => nodeServerTls(systemFiles, paths)).toThrow(
        /server\.pem is damaged: .* from another node or a backup/,
      )
      expect(() => nodeClientTls(systemFiles, paths)).toThrow(/server\.pem is damaged/)
      const rapi = { key: paths.rapiCert, cert: paths.rapiCert }
      expect(() => keyAndCertificate(systemFiles, rapi)).toThrow(/rapi\.pem is damaged: .*renew-crypto/)
    }
    for (const file of [paths.serverCert, paths.rapiCert]) fs.writeFileSync(file, pem)
    nodeServerTls(systemFiles, paths)
    nodeClientTls(systemFiles, paths)
    keyAndCertificate(systemFiles, { key: paths.rapiCert, cert: paths.rapiCert })
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
})

test('a client certificate is signed by the cluster certificate and has its own digest', async () => {
  const server = await createCertificate()
  const client = await createClientCertificate(server, 'node1.example.com')
  const certificate = new crypto.X509Certificate(client)
  expect(certificate.subject).toBe('CN=node1.example.com')
  expect(certificate.verify(new crypto.X509Certificate(server).publicKey)).toBe(true)
  expect(certificateDigest(client)).toMatch(/^([0-9A-F]{2}:){19}[0-9A-F]{2}$/)
  expect(certificateDigest(client)).not.toBe(certificateDigest(server))
})

test("a client certificate can be signed by an RSA cluster certificate such as Ganeti's own", async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-tls-'))
  try {
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=ganeti.example.com', '-days', '9', '-keyout', 'k', '-out', 'c'], { cwd: folder, stdio: 'ignore' }) // prettier-ignore
    const server = fs.readFileSync(path.join(folder, 'k'), 'utf8') + fs.readFileSync(path.join(folder, 'c'), 'utf8')
    const client = await createClientCertificate(server, 'node1')
    expect(new crypto.X509Certificate(client).verify(new crypto.X509Certificate(server).publicKey)).toBe(true)
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
})

test('names and addresses stand in the certificate', async () => {
  const certificate = new crypto.X509Certificate(
    await createCertificate({ names: ['cluster.example.com', '127.0.1.254'] }),
  )
  expect(certificate.checkIP('127.0.1.254')).toBe('127.0.1.254')
  expect(certificate.checkHost('cluster.example.com')).toBe('cluster.example.com')
})

test('a server shows the certificate that its file has, and keeps the former one when the new one cannot be used', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tls-'))
  const file = path.join(folder, 'server.pem')
  const pems = await Promise.all([createCertificate(), createCertificate()])
  const read = () => ({ key: fs.readFileSync(file), cert: fs.readFileSync(file) })
  fs.writeFileSync(file, pems[0])
  const server = tls.createServer(read(), (socket) => socket.end())
  followCertificate(systemFiles, server, [file], read, silentLog)
  try {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const displayed = async () => {
      const { port } = server.address() as AddressInfo
      const socket = tls.connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
      await once(socket, 'secureConnect')
      const { fingerprint } = socket.getPeerCertificate()
      socket.destroy()
      return fingerprint
    }
    for (const [content, expected] of [
      [pems[0], pems[0]],
      ['garbage', pems[0]],
      [pems[1], pems[1]],
    ] as const) {
      fs.writeFileSync(file, content)
      expect(await displayed()).toBe(certificateDigest(expected))
    }
  } finally {
    server.close()
    fs.rmSync(folder, { recursive: true })
  }
})
