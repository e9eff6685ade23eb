// gnt-node add: prepares a machine to join, over SSH as root. If the cluster manages SSH, the machine gets the
// cluster's host keys and lets the candidates in. Then it gets noded's files, and noded is started. The following job
// does the rest.
import { X509Certificate } from 'node:crypto'
import { isIPv6 } from 'node:net'
import * as path from 'node:path'
import { inheritedEnvironment } from '../../lib/environment'
import { hostLine } from '../../lib/file/hosts-file'
import { resolveFully } from '../../lib/net/resolve'
import { pathOnNode, quoteForShell, sshCommand, type SshOptions } from '../../lib/ssh/ssh'
import { SshFiles, sshKeyFile } from '../../lib/ssh/files'
import { errorText } from '../../lib/system-failure'
import { PORT } from '../../model/constants/daemons'
import { PATH } from '../../model/constants/paths'
import { ECODE } from '../../model/errors'
import { nodeUuid } from '../../model/ids'
import { NODE_DAEMON_READY_S, PERSON_S } from '../../model/limits/ssh'
import { versionOf } from '../../model/ip'
import { isHostname } from '../../model/names'
import type { DaemonSetup, JoinRequest } from '../../rpc/ssh/messages'
import type { Call, ThisNode } from '../command'
import { CommandFailure, refusal } from '../outcome'
import type { OptionValues } from '../input/option-values'

/** The cluster's data about the node, and about access to its nodes. */
interface Joining {
  readonly name: string
  readonly address: string
  readonly port: number
  readonly cluster: string
  readonly keys: { readonly type: 'dsa' | 'ecdsa' | 'rsa'; readonly bits: number }
  readonly looksAfterSsh: boolean
}

export interface Joined {
  readonly name: string
  readonly address: string
  readonly secondaryIp: string | undefined
  readonly sshKeys: boolean
}

export async function joinNode(call: Call, given: string): Promise<Joined> {
  const { options, terminal } = call
  // The resolver takes a plain number for an address.
  if (!isHostname(given.toLowerCase()) || /^[\d.]+$/.test(given))
    throw refusal(`Invalid hostname '${given}': a node is added by its name`)
  const here = await call.thisNode()
  const { name, address } = await placeOf(here, given)
  const known = await knownNode(call, name)
  const secondaryIp = known?.secondaryIp ?? options.text('secondary_ip')
  const joining = { name, address, port: known?.port ?? (await groupPort(call)), ...(await clusterFacts(call)) }
  if (joining.looksAfterSsh) {
    terminal.err(warning(name))
    await setUpSsh(call, here, joining)
  }
  await setUpDaemon(call, here, joining)
  return { name, address, secondaryIp, sshKeys: joining.looksAfterSsh }
}

const warning = (name: string): string =>
  [
    '-- WARNING --',
    `The SSH setup of ${name} and of the nodes of the cluster is about to be changed:`,
    `* ${name} gets the host keys of the cluster's nodes, and a new key pair for root,`,
    `* the keys of all master candidates may log in to ${name} as root,`,
    `* if ${name} becomes a master candidate, its key may log in to all nodes.`,
    '',
  ].join('\n')

async function placeOf(here: ThisNode, given: string): Promise<{ name: string; address: string }> {
  const name = given.toLowerCase()
  const listed = await readText(here, here.paths.local(PATH.ETC_HOSTS))
  const version = versionOf(Number(await readText(here, here.paths.ssconf('primary_ip_family'))))
  const found = hostLine(listed, name, version)
  const resolved = found === undefined ? await resolveFully(name, version) : found
  if ('ip' in resolved) return { name: resolved.name, address: resolved.ip }
  throw refusal(`The given name (${name}) does not resolve: ${resolved.error}`, ECODE.RESOLVER)
}

const readText = async ({ disk }: ThisNode, file: string): Promise<string> =>
  ((await disk.read(file)) ?? '').toString('utf8')

/** The node in the cluster's configuration. Refuses a known node without `--readd`, and an unknown one with it. */
async function knownNode(call: Call, name: string): Promise<{ secondaryIp: string; port: number } | undefined> {
  const readd = call.options.flag('readd')
  // A query by a list of names would fail for an unknown name.
  const filter = ['&', ['=', 'name', name]]
  const { data } = await call.master.query('node', ['name', 'sip', 'master', 'ndp/ssh_port'], filter)
  const row = data[0]?.map((cell) => cell[1])
  if (row === undefined) {
    if (readd) throw new CommandFailure(`Node ${name} not in the cluster - please retry without '--readd'`)
    return undefined
  }
  const [known, sip, isMaster, port] = row
  if (!readd)
    throw new CommandFailure(`Node ${name} already in the cluster (as ${String(known)}) - please retry with '--readd'`)
  if (isMaster === true) throw new CommandFailure(`Node ${name} is the master, cannot readd`)
  return { secondaryIp: String(sip), port: Number(port) }
}

/** The SSH port of the node's future group, or of the first group if none was named. */
async function groupPort({ master, options }: Call): Promise<number> {
  const group = options.text('nodegroup')
  const port = options.keyValues('ndparams')?.['ssh_port']
  if (port !== undefined) return Number(port)
  const filter = group === undefined ? null : ['|', ['=', 'name', group], ['=', 'uuid', group]]
  const { data } = await master.query('group', ['ndp/ssh_port'], filter)
  return Number(data[0]?.[0]?.[1] ?? PORT.ssh)
}

async function clusterFacts({ master }: Call): Promise<Pick<Joining, 'cluster' | 'keys' | 'looksAfterSsh'>> {
  const names = ['cluster_name', 'modify_ssh_setup', 'ssh_key_type', 'ssh_key_bits']
  const [cluster, modify, type, bits] = await master.queryConfigValues(names)
  const keyType = type === 'dsa' || type === 'ecdsa' ? type : 'rsa'
  return { cluster: String(cluster), looksAfterSsh: modify === true, keys: { type: keyType, bits: Number(bits) } }
}

async function setUpSsh(call: Call, here: ThisNode, joining: Joining): Promise<void> {
  const { paths, disk } = here
  const files = new SshFiles({ paths, disk, clock: call.clock, run: call.run })
  const listed = (await files.publicKeys()) ?? new Map<string, string[]>()
  const { data } = await call.master.query('node', ['uuid'], ['|', ['=', 'role', 'M'], ['=', 'role', 'C']])
  const candidates = data.map(([uuid]) => String(uuid?.[1]))
  const request: JoinRequest = {
    cluster_name: joining.cluster,
    node_daemon_certificate: new X509Certificate(await readText(here, paths.serverCert)).toString(),
    ssh_host_key: await files.hostKeys(),
    ssh_root_key: [],
    authorized_keys: Object.fromEntries([...listed].filter(([uuid]) => candidates.includes(uuid))),
    ssh_key_type: joining.keys.type,
    ssh_key_bits: joining.keys.bits,
  }
  // The host key may have changed in between, so the second connection trusts the address as the first one did.
  await runThere(call, here, joining, { program: PATH.PREPARE_NODE_JOIN, request, isKnown: false })
  const file = pathOnNode(paths, joining.name, `${sshKeyFile(joining.keys.type)}.pub`)
  const key = await run(call, here, joining, { line: `cat ${quoteForShell(file)}`, isKnown: false })
  // The key is stored by name. When the job adds the node, noded replaces the name by the new uuid.
  await files.writePublicKeys(new Map([...listed, [joining.name, [key.trim()]]]))
}

async function setUpDaemon(call: Call, here: ThisNode, joining: Joining): Promise<void> {
  const { paths, disk, nodes } = here
  const keys = (await disk.list(paths.dataDir)).filter((file) => file.startsWith('ssconf_'))
  // Ganeti's form of these files: its program compares the cluster's name with the given one.
  const texts = keys.map(async (file) => [
    file.slice('ssconf_'.length),
    (await readText(here, path.join(paths.dataDir, file))).replace(/\n+$/, ''),
  ])
  const request: DaemonSetup = {
    cluster_name: joining.cluster,
    node_daemon_certificate: await readText(here, paths.serverCert),
    hmac_key: await readText(here, paths.hmacKey),
    ssconf: Object.fromEntries(await Promise.all(texts)) as Record<string, string>,
    start_node_daemon: true,
    node_name: joining.name,
  }
  await runThere(call, here, joining, { program: PATH.NODE_DAEMON_SETUP, request, isKnown: joining.looksAfterSsh })
  const target = { uuid: nodeUuid(joining.name), name: joining.name, primary_ip: joining.address, offline: false }
  const end_ms = call.clock.monotonic_ms() + NODE_DAEMON_READY_S * 1000
  for (;;) {
    const { problem } = await nodes.one(target, 'version', []).then(
      () => ({ problem: undefined }),
      (error: unknown) => ({ problem: errorText(error) }),
    )
    if (problem === undefined) return
    if (call.clock.monotonic_ms() > end_ms)
      throw new CommandFailure(
        `Node daemon on ${joining.name} didn't answer queries within ${NODE_DAEMON_READY_S} seconds: ${problem}`,
      )
    await call.clock.sleep(200)
  }
}

interface There {
  readonly program: string
  readonly request: object
  /** Whether the node already shows the cluster's host key. */
  readonly isKnown: boolean
}

async function runThere(call: Call, here: ThisNode, joining: Joining, there: There): Promise<void> {
  const program = quoteForShell(pathOnNode(here.paths, joining.name, there.program))
  const line = [program, ...handedOn(call.options)].join(' ')
  await run(call, here, joining, { line, input: JSON.stringify(there.request), isKnown: there.isKnown })
}

/** Verbosity options for the programs on the other node. */
export function handedOn(options: OptionValues): string[] {
  const debug = (options.number('debug') ?? 0) > 0
  return [...(debug ? ['--debug'] : []), ...(options.flag('verbose') ? ['--verbose'] : [])]
}

interface Run {
  readonly line: string
  readonly input?: string
  readonly isKnown: boolean
}

/** Returns its output. ssh may ask the user for a password, and whether the host is the right one. */
async function run(call: Call, { paths }: ThisNode, joining: Joining, { line, input, isKnown }: Run): Promise<string> {
  const checked = call.options.flag('ssh_key_check')
  const sshOptions: SshOptions = {
    knownHosts: paths.local(PATH.SSH_KNOWN_HOSTS_FILE),
    port: joining.port,
    quiet: false,
    ipv6: isIPv6(joining.address),
    mayAsk: true,
    unknownHosts: checked ? 'ask' : 'accept',
    ...(isKnown && { hostAlias: joining.cluster }),
  }
  const command = sshCommand(paths, joining, sshOptions, line)
  const environment = inheritedEnvironment()
  const options = { env: environment, input: input ?? '', interactive: true, timeout_s: PERSON_S }
  const { code, stdout } = await call.run(command, options)
  if (code === 0) return stdout
  const way =
    code === SSH_FAILED
      ? `root must be able to log in to ${joining.name} (port ${joining.port}) from here`
      : `the message above says why; Gantry must be installed there, with ${PATH.PREPARE_NODE_JOIN} and its neighbours`
  throw new CommandFailure(
    `Node ${joining.name} could not be prepared (exit code ${code ?? 'none'}): ${way}. --no-node-setup adds a node that was prepared by other means`,
  )
}

const SSH_FAILED = 255
