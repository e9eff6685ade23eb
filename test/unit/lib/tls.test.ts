import { execFileSync } from 'node:child_process'
import * as crypto from 'node:crypto'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { certificateDigest, certificateEnd_ms, createCertificate, createClientCertificate } from '../../../src/lib/tls'

test('the cluster certificate signs itself, carries its key, and lasts five years', async () => {
  const pem = await createCertificate()
  const certificate = new crypto.X509Certificate(pem)
  expect(certificate.subject).toBe('CN=ganeti.example.com')
  expect(certificate.issuer).toBe(certificate.subject)
  expect(certificate.checkPrivateKey(crypto.createPrivateKey(pem))).toBe(true)
  expect(certificate.verify(certificate.publicKey)).toBe(true)
  expect(certificateEnd_ms(pem) - Date.now()).toBeGreaterThan(1824 * 86400_000)
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
