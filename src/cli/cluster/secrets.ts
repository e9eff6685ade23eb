// gnt-cluster renew-crypto: certificates and secrets that are plain files, equal on all nodes. The master's are
// replaced and sent to the others with the configuration. Daemons notice new files by themselves, so none is stopped.
import type { Files } from '../../lib/files'
import { errorText } from '../../lib/system-failure'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { Paths } from '../../lib/paths'
import { createCertificate, createSelfSigned } from '../../lib/tls'
import { MODE } from '../../model/constants/daemons'
import { PATH } from '../../model/constants/paths'
import { OpClusterRedistConf } from '../../opcodes/cluster'
import type { Call } from '../command'
import { CommandFailure } from '../outcome'
import { opcodeOf } from '../submit/submit'

/** New contents by path. */
type NewFiles = readonly (readonly [file: string, content: string])[]

/** Checks all options before anything is asked or changed. Returns a function that makes the new secrets. */
export async function readRenewal(call: Call): Promise<(() => Promise<NewFiles>) | undefined> {
  const { options } = call
  const input = (dest: string): string | undefined => options.text(dest)
  const wants = (dest: string): boolean => options.flag(dest)
  refuseBoth(wants('new_rapi_cert') && input('rapi_cert'), '--new-rapi-certificate and --rapi-certificate')
  const secretOptions = '--new-cluster-domain-secret and --cluster-domain-secret'
  refuseBoth(wants('new_cluster_domain_secret') && input('cluster_domain_secret'), secretOptions)
  const spice = [input('spice_cert'), input('spice_cacert')]
  if (wants('new_spice_cert') && spice.some((file) => file !== undefined))
    throw new CommandFailure(
      'When using --new-spice-certificate, the --spice-certificate and --spice-ca-certificate must not be used.',
    )
  if (spice.filter((file) => file !== undefined).length === 1)
    throw new CommandFailure('Both --spice-certificate and --spice-ca-certificate must be specified.')
  const read: NewFiles = [
    ...(await fromFile(call.files, PATH.RAPI_CERT_FILE, input('rapi_cert'), withKey)),
    ...(await fromFile(call.files, PATH.SPICE_CERT_FILE, spice[0], withKey)),
    ...(await fromFile(call.files, PATH.SPICE_CACERT_FILE, spice[1], certificate)),
    ...(await fromFile(call.files, PATH.CLUSTER_DOMAIN_SECRET_FILE, input('cluster_domain_secret'), secret)),
  ]
  const makers = [
    ...(wants('new_rapi_cert') ? [() => newRapiCertificate(call)] : []),
    ...(wants('new_spice_cert') ? [newSpiceCertificate] : []),
    ...(wants('new_confd_hmac_key') ? [() => newSecret(call, PATH.CONFD_HMAC_KEY)] : []),
    ...(wants('new_cluster_domain_secret') ? [() => newSecret(call, PATH.CLUSTER_DOMAIN_SECRET_FILE)] : []),
  ]
  if (read.length + makers.length === 0) return undefined
  return async () => [...read, ...(await Promise.all(makers.map((make) => make()))).flat()]
}

/** Writes the new files and keeps a backup beside each old one. */
export async function replaceFiles(call: Call, files: NewFiles): Promise<void> {
  const { paths, disk } = await call.thisNode()
  const backup = `.backup-${Math.floor(call.clock.now_ms())}`
  for (const [file, content] of files) {
    const place = paths.local(file)
    const old = await disk.read(place)
    if (old !== undefined) await disk.write(place + backup, old, { mode: MODE.secureFile })
    await disk.write(place, content, { mode: MODE.secureFile })
    call.terminal.out(`Renewed ${displayed(paths, place)}`)
  }
  await call.jobs.run(opcodeOf(OpClusterRedistConf, {}))
}

const displayed = (paths: Paths, file: string): string => paths.virtual(file)

function refuseBoth(both: unknown, options: string): void {
  if (both) throw new CommandFailure(`Only one of the ${options} options can be specified at the same time.`)
}

async function fromFile(
  files: Files,
  target: string,
  file: string | undefined,
  check: (text: string) => void,
): Promise<NewFiles> {
  if (file === undefined) return []
  try {
    const text = await files.readFile(file, 'utf8')
    check(text)
    return [[target, text]]
  } catch (error) {
    // The file may contain a secret, so the message only says what is wrong with it.
    throw new CommandFailure(`Unable to load ${file}: ${errorText(error)}`)
  }
}

function certificate(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch {
    throw new Error('it has no X509 certificate in PEM format')
  }
}

function withKey(pem: string): void {
  const own = certificate(pem)
  let key
  try {
    key = createPrivateKey(pem)
  } catch {
    throw new Error('it has no private key in PEM format, which must stand in the same file')
  }
  if (!own.checkPrivateKey(key)) throw new Error('its private key is not that of its certificate')
}

function secret(text: string): void {
  if (text.trim() === '') throw new Error('it is empty')
}

async function newRapiCertificate({ master }: Call): Promise<NewFiles> {
  const [{ data }, info] = await Promise.all([master.query('node', ['pip'], null), master.queryClusterInfo()])
  const names = [String(info['master_ip'] ?? info['name']), ...data.map(([address]) => String(address?.[1]))]
  return [[PATH.RAPI_CERT_FILE, await createCertificate({ names })]]
}

async function newSpiceCertificate(): Promise<NewFiles> {
  const { pem, ca } = await createSelfSigned()
  return [
    [PATH.SPICE_CERT_FILE, pem],
    [PATH.SPICE_CACERT_FILE, ca],
  ]
}

async function newSecret(call: Call, file: string): Promise<NewFiles> {
  const { random } = await call.thisNode()
  return [[file, `${random.hex(20)}\n`]]
}
