// Programs that the master runs on another node over SSH: they change SSH keys and certificates, and prepare a joining node. They read a
// request from standard input, and refuse one of another cluster.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { Clock } from '../lib/clock'
import type { Disk } from '../lib/disk'
import type { Paths } from '../lib/paths'
import type { Random } from '../lib/random'
import type { Run } from '../lib/programs/run-command'
import { SshFiles } from '../lib/ssh/files'
import { createClientCertificate } from '../lib/tls'
import { SSHD_RELOAD_S, SSH_INPUT_BYTES_MAX } from '../model/limits/ssh'
import { Mismatch, type Shape } from '../lib/shapes/shape'
import {
  certificateUpdate,
  type CertificateUpdate,
  daemonSetup,
  type DaemonSetup,
  joinRequest,
  type JoinRequest,
  keyUpdate,
  type KeyUpdate,
} from '../rpc/ssh/messages'
import { makeDirectories } from './directories'
import { otherName } from './own-name'

export interface ProgramRun {
  paths: Paths
  disk: Disk
  clock: Clock
  random: Random
  run: Run
  input: Readable
  /** Starts the node's daemons in the background; stops running ones first. */
  startNode(): Promise<void>
}

/** An error for the person who started the program. */
class SetupError extends Error {}

interface Request {
  readonly cluster_name?: string
  readonly node_daemon_certificate?: string
}

interface Program {
  run(input: unknown, dryRun: boolean, options: ProgramRun): Promise<void>
}

const program = <T extends Request>(
  check: Shape<T>,
  action: (request: T, options: ProgramRun) => Promise<void>,
): Program => ({
  async run(input, dryRun, options) {
    const request = check.parse(input)
    await checkSender(request, options)
    if (!dryRun) await action(request, options)
  },
})

const programs: Readonly<Record<string, Program>> = {
  'ssh-update': program(keyUpdate, applyKeyUpdate),
  'prepare-node-join': program(joinRequest, prepareJoin),
  'node-daemon-setup': program(daemonSetup, setUpDaemon),
  'ssl-update': program(certificateUpdate, updateCertificate),
}

/** Rejects with a SetupError that names the mistake. */
export async function runNodeProgram(name: string, dryRun: boolean, options: ProgramRun): Promise<void> {
  const input = await readInput(options.input)
  try {
    await programs[name]?.run(input, dryRun, options)
  } catch (error) {
    throw error instanceof Mismatch ? new SetupError(`The input is not valid: ${error.message}`) : error
  }
}

async function readInput(stream: Readable): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk as Uint8Array)
    size += bytes.length
    if (size > SSH_INPUT_BYTES_MAX) throw new SetupError(`The input is longer than ${SSH_INPUT_BYTES_MAX} bytes`)
    chunks.push(bytes)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    // The message does not repeat the input, which may be secret.
    throw new SetupError('The input is not JSON')
  }
}

/** A node of another cluster must leave that first. A node without a cluster believes everybody who may log in. */
async function checkSender(request: Request, { paths, disk }: ProgramRun): Promise<void> {
  const { cluster_name, node_daemon_certificate } = request
  if (cluster_name === undefined) throw new SetupError('Cluster name must be specified')
  const own = (await disk.read(paths.ssconf('cluster_name')))?.toString('utf8').trim()
  if (own !== undefined && own !== cluster_name)
    throw new SetupError(`Cluster name is '${cluster_name}', but this node is in the cluster '${own}'`)
  if (node_daemon_certificate === undefined) return
  const server = await disk.read(paths.serverCert)
  const certificate = certificateOf(node_daemon_certificate)
  if (server !== undefined && !new X509Certificate(server).raw.equals(certificate.raw))
    throw new SetupError(`The certificate ${paths.virtual(paths.serverCert)} of this node is of another cluster`)
}

function certificateOf(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch {
    throw new SetupError('(stdin) Unable to load certificate')
  }
}

/** Authorized keys first, so that a failure cannot take them away. */
async function applyKeyUpdate(update: KeyUpdate, options: ProgramRun): Promise<void> {
  const files = new SshFiles(options)
  if (update.authorized_keys !== undefined) {
    const [action, keys] = update.authorized_keys
    const all = Object.values(keys).flat()
    await (action === 'add' ? files.authorize(all) : files.forbid(all))
  }
  if (update.public_keys !== undefined) await changeList(files, ...update.public_keys)
  if (update.generate !== undefined) await files.generate(...update.generate)
}

type ListChange = NonNullable<KeyUpdate['public_keys']>

async function changeList(files: SshFiles, action: ListChange[0], given: ListChange[1]): Promise<void> {
  const known = action === 'clear' || action === 'override' ? undefined : await files.publicKeys()
  const keys = new Map(known)
  for (const [node, list] of action === 'clear' ? [] : Object.entries(given)) {
    const desired = list.map((key) => key.trim())
    if (action === 'remove') keys.delete(node)
    else keys.set(node, action === 'add' ? [...new Set([...(keys.get(node) ?? []), ...desired])] : desired)
  }
  await files.writePublicKeys(keys)
}

async function prepareJoin(request: JoinRequest, options: ProgramRun): Promise<void> {
  const files = new SshFiles(options)
  const hostKeys = request.ssh_host_key ?? []
  await files.installHostKeys(hostKeys)
  // A virtual node has no SSH daemon of its own.
  if (hostKeys.length > 0 && options.paths.root === '') await reloadSshDaemon(options.run)
  const { ssh_key_type, ssh_key_bits } = request
  if (ssh_key_type === undefined || ssh_key_bits === undefined)
    throw new SetupError('ssh_key_type and ssh_key_bits must be specified')
  await files.generate(ssh_key_type, ssh_key_bits)
  await files.authorize(Object.values(request.authorized_keys ?? {}).flat())
}

export async function reloadSshDaemon(run: Run): Promise<void> {
  const tried: string[] = []
  for (const argv of [
    ['systemctl', 'reload', 'ssh.service'],
    ['service', 'ssh', 'reload'],
  ]) {
    const { code, output } = await run(argv, { timeout_s: SSHD_RELOAD_S })
    if (code === 0) return
    tried.push(`'${argv.join(' ')}' ended with ${code}: ${output.trim()}`)
  }
  throw new SetupError(`Could not reload SSH keys: ${tried.join('; ')}`)
}

async function setUpDaemon(request: DaemonSetup, options: ProgramRun): Promise<void> {
  const { paths, disk } = options
  const { node_daemon_certificate: pem, hmac_key, ssconf, node_name } = request
  if (pem === undefined) throw new SetupError('Node daemon certificate must be specified')
  if (hmac_key === undefined) throw new SetupError('Hmac key must be provided')
  if (ssconf === undefined) throw new SetupError('Ssconf values must be specified')
  if (ssconf['cluster_name'] !== request.cluster_name) throw new SetupError('Cluster name in ssconf does not match')
  if (node_name === undefined) throw new SetupError('No hostname found.')
  const other = paths.root === '' ? otherName(paths.hostname, node_name) : undefined
  if (other !== undefined) throw new SetupError(`This node cannot join: ${other}`)
  checkKey(pem)
  const odd = Object.keys(ssconf).find((key) => !/^[a-z][a-z_-]*$/.test(key))
  if (odd !== undefined) throw new SetupError(`Not a key of ssconf: ${JSON.stringify(odd)}`)
  await makeDirectories(disk, paths)
  for (const [key, text] of Object.entries(ssconf)) await disk.write(paths.ssconf(key), asLines(text))
  await disk.write(paths.hmacKey, hmac_key)
  await disk.write(paths.serverCert, pem)
  await signClientCertificate(pem, node_name, options)
  if (request.start_node_daemon === true) await options.startNode()
}

/** Ganeti's master does it on every node, before it tells all of them the new digests. */
async function updateCertificate(request: CertificateUpdate, options: ProgramRun): Promise<void> {
  const { paths, disk } = options
  const { node_daemon_certificate: pem, node_name, action } = request
  if (pem === undefined) throw new SetupError('Node daemon certificate must be specified')
  checkKey(pem)
  if (action === undefined) throw new SetupError('No action specified: it is create or delete')
  if (action === 'delete') {
    await disk.remove(paths.clientCert)
    // Without the list a node obeys the holders of the cluster's own key, and nobody has another one now.
    return disk.remove(paths.ssconf('master_candidates_certs'))
  }
  if (node_name === undefined) throw new SetupError('No hostname found.')
  const server = await disk.read(paths.serverCert)
  if (server === undefined)
    throw new SetupError(
      `This node has no certificate ${paths.virtual(paths.serverCert)} that could sign its own: it is in no cluster. ` +
        `Add it on the master with: gnt-node add ${node_name}`,
    )
  await signClientCertificate(server.toString('utf8'), node_name, options)
}

async function signClientCertificate(server: string, node: string, { paths, disk, clock, random }: ProgramRun) {
  await disk.write(paths.clientCert, await createClientCertificate(server, node, { clock, random }))
}

/** Ganeti sends the texts of these files without the final newline. */
const asLines = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`)

function checkKey(pem: string): void {
  try {
    if (certificateOf(pem).checkPrivateKey(createPrivateKey(pem))) return
  } catch (error) {
    if (error instanceof SetupError) throw error
    throw new SetupError('(stdin) Unable to load private key')
  }
  throw new SetupError('(stdin) Certificate is not signed with given key')
}
