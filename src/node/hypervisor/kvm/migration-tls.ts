// TLS of migrations between our nodes. Both sides show the cluster's certificate, which all nodes have, and trust no other.
import { X509Certificate } from 'node:crypto'
import { certificateProblem } from '../../../lib/tls'
import { CHOWN_S } from '../../../model/limits/node'
import type { InstanceDict } from '../../../rpc/node/dicts'
import { HypervisorFailure } from '../hypervisor'
import { qemuFacts } from './host'
import { chrootOf, userOf } from './launch'
import type { KvmMachines } from './machines'
import { KvmParams } from './params'
import type { Qmp } from './qmp'

const CREDENTIALS = 'gantry-migration'
/** QEMU's names for the files of either side. */
const FILES = { server: ['server-cert.pem', 'server-key.pem'], client: ['client-cert.pem', 'client-key.pem'] } as const

/** Whether this node can use TLS for its migrations. */
export async function canEncrypt({ context }: KvmMachines, instance: InstanceDict): Promise<boolean> {
  const { files, paths, run, clock } = context
  const pem = await files.readFile(paths.serverCert, 'utf8').catch(() => undefined)
  if (pem === undefined || certificateProblem(paths.serverCert, pem, clock.now_ms()) !== undefined) return false
  const { program } = await qemuFacts(context, new KvmParams(instance.hvparams).text('kvm_path'))
  // It ends at once: the folder does not exist. A QEMU without TLS says so.
  const probe = `tls-creds-x509,id=probe,endpoint=client,dir=/nonexistent`
  const { output } = await run([program, '-machine', 'none', '-display', 'none', '-object', probe], { timeout_s: 30 })
  return output.includes('/nonexistent')
}

/** QEMU reads the files at once, so they exist only meanwhile, and only its user can read them. */
export async function useTls(machines: KvmMachines, name: string, qmp: Qmp, side: 'server' | 'client'): Promise<void> {
  const { context, layout } = machines
  const { command } = await machines.running(name, `Instance ${name} is not on this node`)
  const pem = await context.files.readFile(context.paths.serverCert, 'utf8')
  await forgetTls(qmp)
  const chroot = chrootOf(command)
  const directory = chroot === undefined ? layout.tlsDir(name) : `${chroot}/${TLS_FOLDER}`
  try {
    await writeFiles(machines, directory, pem, side, userOf(command))
    await qmp.run('object-add', {
      ...{ 'qom-type': 'tls-creds-x509', id: CREDENTIALS, endpoint: side, 'verify-peer': true },
      // The certificate signs itself, which QEMU otherwise refuses for a server or client.
      ...{ 'sanity-check': false, dir: chroot === undefined ? directory : `/${TLS_FOLDER}` },
    })
  } finally {
    await context.files.rm(directory, { recursive: true, force: true })
  }
  const hostname = side === 'client' ? { 'tls-hostname': commonName(pem) } : {}
  await qmp.run('migrate-set-parameters', { 'tls-creds': CREDENTIALS, ...hostname })
}

const TLS_FOLDER = '.migration-tls'

/** The next migration of this QEMU may be a plain one. */
export async function forgetTls(qmp: Qmp): Promise<void> {
  const { 'tls-creds': used } = await qmp.object('query-migrate-parameters')
  if (used !== CREDENTIALS) return
  await qmp.run('migrate-set-parameters', { 'tls-creds': '', 'tls-hostname': '' })
  await qmp.run('object-del', { id: CREDENTIALS })
}

async function writeFiles(
  { context: { files, run } }: KvmMachines,
  directory: string,
  pem: string,
  side: 'server' | 'client',
  user: string | undefined,
): Promise<void> {
  const at = pem.indexOf('-----BEGIN CERTIFICATE-----')
  const [certificate, key] = [pem.slice(at), pem.slice(0, at)]
  const [certificateFile, keyFile] = FILES[side]
  await files.rm(directory, { recursive: true, force: true })
  await files.mkdir(directory, { recursive: true, mode: 0o700 })
  const wanted = [
    ['ca-cert.pem', certificate],
    [certificateFile, certificate],
    [keyFile, key],
  ] as const
  for (const [file, text] of wanted) await files.writeFile(`${directory}/${file}`, text, { mode: 0o400, flag: 'wx' })
  if (user === undefined) return
  const { code, output } = await run(['chown', '-R', user, directory], { timeout_s: CHOWN_S })
  if (code !== 0) throw new HypervisorFailure(`The certificate cannot be given to the user ${user}: ${output.trim()}`)
}

const commonName = (pem: string): string => /^CN=(.*)$/m.exec(new X509Certificate(pem).subject)?.[1] ?? ''
