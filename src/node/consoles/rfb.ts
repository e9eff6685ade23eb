// Both sides of a screen's handshake (RFB 3.8, RFC 6143). This node logs in at QEMU as the screen requires. A viewer
// need not log in, because it was checked before it got here. No screen password leaves the node.
import { createCipheriv } from 'node:crypto'
import type { Duplex } from 'node:stream'
import * as tls from 'node:tls'
import { ByteReader } from '../../lib/net/byte-reader'
import { HypervisorFailure, type ScreenLogin } from '../hypervisor/hypervisor'

const VERSION = 'RFB 003.008\n'
const SECURITY = { none: 1, password: 2, tls: 19 } as const
/** VeNCrypt's inner types: with TLS inside, without and with certificates. */
const INNER = { tlsNone: 257, tlsPassword: 258, x509None: 260, x509Password: 261 } as const
const WITH_PASSWORD: readonly number[] = [INNER.tlsPassword, INNER.x509Password]
const WITHOUT_CERTIFICATE: readonly number[] = [INNER.tlsNone, INNER.tlsPassword]

/** A screen that waits for its client's first message. */
export interface Screen {
  readonly line: Duplex
  readonly said: ByteReader
}

/** Logs in at QEMU. Throws the reason if that fails. */
export async function enterScreen(line: Duplex, login: ScreenLogin): Promise<Screen> {
  const said = new ByteReader(line)
  const version = (await said.take(VERSION.length)).toString('latin1')
  if (!version.startsWith('RFB ')) throw new HypervisorFailure('what listens there is no screen')
  line.write(VERSION)
  const offered = await listOf(said)
  if (offered.includes(SECURITY.none)) return await choose({ line, said }, SECURITY.none, login)
  if (offered.includes(SECURITY.password)) return await choose({ line, said }, SECURITY.password, login)
  if (offered.includes(SECURITY.tls)) return await enterByTls({ line, said }, login)
  throw new HypervisorFailure(`the screen wants a login that is not known here (types ${offered.join(', ')})`)
}

/** Admits a viewer without a login. Resolves when it has sent its first message. */
export async function welcomeViewer(received: ByteReader, show: (bytes: Buffer) => void): Promise<void> {
  show(Buffer.from(VERSION))
  await received.take(VERSION.length)
  show(Buffer.from([1, SECURITY.none]))
  await received.take(1)
  show(Buffer.alloc(4))
  // Ignores the viewer's wish for exclusive use.
  await received.take(1)
}

/** The first message to a screen: shared, so that no other viewer is disconnected. */
export const SHARED = Buffer.from([1])

async function choose(screen: Screen, type: number, login: ScreenLogin): Promise<Screen> {
  screen.line.write(Buffer.from([type]))
  if (type === SECURITY.password) await answerChallenge(screen, login)
  await succeeded(screen.said)
  return screen
}

async function answerChallenge({ line, said }: Screen, login: ScreenLogin): Promise<void> {
  line.write(response(await said.take(16), await login.password()))
}

async function enterByTls({ line, said }: Screen, login: ScreenLogin): Promise<Screen> {
  line.write(Buffer.from([SECURITY.tls]))
  await said.take(2)
  line.write(Buffer.from([0, 2]))
  if ((await said.take(1)).readUInt8() !== 0)
    throw new HypervisorFailure('the screen knows another version of VeNCrypt')
  const count = (await said.take(1)).readUInt8()
  const types = await said.take(4 * count)
  const offered = Array.from({ length: count }, (_, at) => types.readUInt32BE(4 * at))
  const inner = Object.values(INNER).find((type) => offered.includes(type))
  if (inner === undefined)
    throw new HypervisorFailure(`the screen wants a login that is not known here (VeNCrypt ${offered.join(', ')})`)
  const chosen = Buffer.alloc(4)
  chosen.writeUInt32BE(inner)
  line.write(chosen)
  if ((await said.take(1)).readUInt8() !== 1) throw new HypervisorFailure('the screen refused to begin TLS')
  const secured = await secure(line, WITHOUT_CERTIFICATE.includes(inner), login)
  const screen = { line: secured, said: new ByteReader(secured) }
  if (WITH_PASSWORD.includes(inner)) await answerChallenge(screen, login)
  await succeeded(screen.said)
  return screen
}

/** The screen is on this machine, so its certificate is not checked. */
async function secure(line: Duplex, isAnonymous: boolean, login: ScreenLogin): Promise<tls.TLSSocket> {
  const anonymous = { ciphers: 'aNULL:@SECLEVEL=0', maxVersion: 'TLSv1.2' } as const
  const own = isAnonymous ? anonymous : await login.certificate()
  const secured = tls.connect({ socket: line, rejectUnauthorized: false, ...own })
  await new Promise<void>((resolve, reject) => {
    secured.once('error', reject)
    secured.once('secureConnect', () => {
      secured.off('error', reject)
      resolve()
    })
  })
  return secured
}

async function listOf(said: ByteReader): Promise<number[]> {
  const count = (await said.take(1)).readUInt8()
  if (count === 0) throw new HypervisorFailure(`the screen refused: ${await reason(said)}`)
  return [...(await said.take(count))]
}

async function succeeded(said: ByteReader): Promise<void> {
  if ((await said.take(4)).readUInt32BE() !== 0)
    throw new HypervisorFailure(`the screen refused the login of this node: ${await reason(said)}`)
}

async function reason(said: ByteReader): Promise<string> {
  const length = (await said.take(4)).readUInt32BE()
  return (await said.take(Math.min(length, 200))).toString('utf8')
}

/**
 * The answer to a challenge, encrypted with DES. The key is the password with the bits of each byte reversed. Triple
 * DES with three equal keys equals DES, and OpenSSL only has the former.
 */
function response(challenge: Buffer, password: string): Buffer {
  const key = Buffer.alloc(8)
  Buffer.from(password).copy(key)
  const reversed = key.map((byte) => parseInt(byte.toString(2).padStart(8, '0').split('').reverse().join(''), 2))
  const cipher = createCipheriv('des-ede3-ecb', Buffer.concat([reversed, reversed, reversed]), null)
  cipher.setAutoPadding(false)
  return Buffer.concat([cipher.update(challenge), cipher.final()])
}
