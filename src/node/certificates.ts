// Short-lived certificates for transfers between clusters. The private key never leaves the node.
import * as path from 'node:path'
import { fileTime } from '../lib/clock'
import { createCertificate } from '../lib/tls'
import { PATH } from '../model/constants/paths'
import { TRANSFER_CERTIFICATE_S_MAX } from '../model/limits/transfers'
import { fail } from './failure'
import type { NodeContext } from './context'

const NAME = /^x509-[A-Za-z0-9_.-]+$/
const DAY_S = 86400

/** Returns the new certificate's name, and its public part as PEM. */
export async function createTransferCertificate(
  { paths, files, hostname, clock, random }: NodeContext,
  validity_s: number,
): Promise<[name: string, pem: string]> {
  if (validity_s <= 0) fail('A certificate is valid for more than no time')
  const base = paths.local(PATH.CRYPTO_KEYS_DIR)
  await files.mkdir(base, { recursive: true, mode: 0o700 })
  const validity_days = Math.min(validity_s, TRANSFER_CERTIFICATE_S_MAX) / DAY_S
  const both = await createCertificate({ commonName: hostname, validity_days, clock, random })
  const pem = both.slice(both.indexOf('-----BEGIN CERTIFICATE-----'))
  const directory = await files.mkdtemp(path.join(base, `x509-${fileTime(clock)}-`))
  await files.writeFile(path.join(directory, 'key'), both.slice(0, -pem.length), { mode: 0o400 })
  await files.writeFile(path.join(directory, 'cert'), pem, { mode: 0o400 })
  return [path.basename(directory), pem]
}

export async function removeTransferCertificate(context: NodeContext, name: string): Promise<void> {
  const { keyFile, certFile } = certificateFiles(context, name)
  const { files } = context
  await Promise.all([keyFile, certFile].map((file) => files.rm(file, { force: true })))
  await files.rmdir(path.dirname(keyFile)).catch(() => fail(`Cannot remove certificate directory of '${name}'`))
}

export function certificateFiles({ paths }: NodeContext, name: string): { keyFile: string; certFile: string } {
  if (!NAME.test(name)) fail(`Invalid name of a certificate: '${name}'`)
  const directory = path.join(paths.local(PATH.CRYPTO_KEYS_DIR), name)
  return { keyFile: path.join(directory, 'key'), certFile: path.join(directory, 'cert') }
}
