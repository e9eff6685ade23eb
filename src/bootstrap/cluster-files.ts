// Writes a new cluster's files on its nodes: certificates, keys, the first configuration and the values that every node
// keeps. The master's configuration is written last: until then the cluster does not exist, and making it can begin
// again.
import { createHash } from 'node:crypto'
import * as path from 'node:path'
import { applyChange, change } from '../config/changes'
import { initialConfig } from '../config/init'
import { recordValues } from '../config/records'
import { ssconfValues } from '../config/ssconf'
import { createConfig } from '../config/store-files'
import { EMPTY_GANTRY } from '../config/upgrade'
import { type Clock, seconds } from '../lib/clock'
import type { Disk } from '../lib/disk'
import type { LockFile } from '../lib/file/lock'
import type { Paths } from '../lib/paths'
import type { Random } from '../lib/random'
import { certificateDigest, createCertificate, createClientCertificate, createSelfSigned } from '../lib/tls'
import type { Cluster, ConfigData, Node } from '../model/config'
import { nodeUuid } from '../model/ids'
import { asConfigOwner } from '../replication/config-owner'
import { makeDirectories } from './directories'

export interface NewNode {
  name: string
  address: string
  /** For replication; default: the primary address. */
  secondaryAddress?: string | undefined
  paths: Paths
}

export interface NewCluster {
  name: string
  /** The cluster's own address. */
  address: string
  /** The first one is the master. */
  nodes: readonly [NewNode, ...NewNode[]]
  /** Fields of the cluster that differ from Ganeti's defaults. */
  cluster: Partial<Cluster>
  /** Users of the remote API, one per line: `name password-or-{HA1}hash options`. */
  users: string
}

export interface Bootstrap {
  disk: Disk
  clock: Clock
  random: Random
  lockFile?: LockFile
}

export async function createCluster(desired: NewCluster, input: Bootstrap): Promise<ConfigData> {
  const { disk, random } = input
  const [master] = desired.nodes
  const names = [desired.address, ...desired.nodes.map((node) => node.address)]
  const [serverPem, rapiPem, spice] = await Promise.all([
    createCertificate(),
    createCertificate({ names }),
    createSelfSigned(),
  ])
  const clientPems = await Promise.all(desired.nodes.map((node) => createClientCertificate(serverPem, node.name)))
  const config = firstConfig(desired, clientPems, input)
  const shared = {
    serverPem,
    rapiPem,
    spice,
    hmacKey: `${random.hex(20)}\n`,
    domainSecret: `${random.hex(20)}\n`,
    users: desired.users,
    ssconf: ssconfValues(config),
  }
  await Promise.all(
    desired.nodes.map((node, index) => writeNode(disk, node.paths, { ...shared, clientPem: clientPems[index] ?? '' })),
  )
  await disk.write(`${master.paths.queueDir}/serial`, '0\n')
  await disk.write(`${master.paths.queueDir}/version`, '1\n')
  const { paths } = master
  await asConfigOwner({ ...input, paths }, () => createConfig({ disk, paths }, config))
  return config
}

/** `{HA1}`: a hash for a users file, instead of a password. */
export const hashedPassword = (user: string, realm: string, password: string): string =>
  `{HA1}${createHash('md5').update(`${user}:${realm}:${password}`).digest('hex')}`

function firstConfig(desired: NewCluster, clientPems: readonly string[], { clock, random }: Bootstrap): ConfigData {
  const [master, ...others] = desired.nodes
  const context = { now_s: seconds(clock), random }
  const digest = (index: number) => certificateDigest(clientPems[index] ?? '')
  let config = initialConfig(
    {
      clusterName: desired.name,
      masterIp: desired.address,
      masterName: master.name,
      primaryIp: master.address,
      secondaryIp: master.secondaryAddress ?? master.address,
      masterCertDigest: digest(0),
      cluster: desired.cluster,
    },
    context,
  )
  const [template] = recordValues(config.nodes)
  if (template === undefined) throw new Error('the first configuration has no master node')
  const apply = (named: Parameters<typeof applyChange>[1]) =>
    (config = applyChange({ config, gantry: EMPTY_GANTRY }, named, context).documents.config)
  others.forEach(({ name, address, secondaryAddress = address }, index) => {
    const uuid = nodeUuid(random.uuid())
    const node: Node = { ...template, uuid, name, primary_ip: address, secondary_ip: secondaryAddress }
    apply(change('addNode', node))
    apply(change('addCandidateCert', uuid, digest(index + 1)))
  })
  return config
}

/** Gives a joining node what the others have: the cluster's keys, and the values that every node keeps. */
export async function writeJoiningNode(
  disk: Disk,
  { name, paths }: Pick<NewNode, 'name' | 'paths'>,
  master: Paths,
): Promise<void> {
  const text = async (file: string) => ((await disk.read(file)) ?? '').toString('utf8')
  const keys = (await disk.list(master.dataDir)).filter((file) => file.startsWith('ssconf_'))
  const ssconf = await Promise.all(
    keys.map(async (file) => [file.slice('ssconf_'.length), await text(path.join(master.dataDir, file))] as const),
  )
  const serverPem = await text(master.serverCert)
  const spicePem = await text(master.spiceCert)
  await writeNode(disk, paths, {
    serverPem,
    clientPem: await createClientCertificate(serverPem, name),
    rapiPem: await text(master.rapiCert),
    // A cluster of Ganeti may have none.
    spice: spicePem === '' ? undefined : { pem: spicePem, ca: await text(master.spiceCaCert) },
    hmacKey: await text(master.hmacKey),
    domainSecret: await text(master.domainSecret),
    users: await text(master.rapiUsers),
    ssconf: Object.fromEntries(ssconf),
  })
}

interface NodeFiles {
  serverPem: string
  clientPem: string
  rapiPem: string
  spice: Awaited<ReturnType<typeof createSelfSigned>> | undefined
  hmacKey: string
  domainSecret: string
  users: string
  ssconf: Readonly<Record<string, string>>
}

async function writeNode(disk: Disk, paths: Paths, files: NodeFiles): Promise<void> {
  await makeDirectories(disk, paths)
  const secret: [string, string][] = [
    [paths.serverCert, files.serverPem],
    [paths.clientCert, files.clientPem],
    [paths.rapiCert, files.rapiPem],
    ...(files.spice === undefined
      ? []
      : ([
          [paths.spiceCert, files.spice.pem],
          [paths.spiceCaCert, files.spice.ca],
        ] as [string, string][])),
    [paths.hmacKey, files.hmacKey],
    [paths.domainSecret, files.domainSecret],
    // Any candidate may become the master, and verify complains about a file that only some have.
    [paths.rapiUsers, files.users],
  ]
  // Nothing was acknowledged before this point. The configuration is written last, because it makes the cluster exist.
  const quick = { durable: false }
  await Promise.all([
    ...secret.map(([file, text]) => disk.write(file, text, quick)),
    ...Object.entries(files.ssconf).map(([key, text]) => disk.write(paths.ssconf(key), text, quick)),
  ])
}
