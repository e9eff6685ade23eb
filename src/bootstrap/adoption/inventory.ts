// The check before any change: the state of the cluster and its nodes, problems, and notes.
import { readConfig } from '../../config/store-files'
import { fillNdParams } from '../../config/filled'
import { recordValues } from '../../config/records'
import { isFinal } from '../../jobs/job'
import { parseJob } from '../../jobs/job-file'
import type { Disk } from '../../lib/disk'
import type { Paths } from '../../lib/paths'
import type { Random } from '../../lib/random'
import { errorText } from '../../lib/system-failure'
import type { ConfigData } from '../../model/config'
import { ECODE, OpPrereqError } from '../../model/errors'
import { CONFIG_VERSIONS_SUPPORTED } from '../../model/constants/versions'
import { PROBE_S, ROOM_MIB } from '../../model/limits/adoption'
import type { Node } from '../../model/node'
import { readOptions } from '../../roles/options'
import type { Role } from '../../roles/role'
import type { NodeClient } from '../../rpc/node/client'
import { unfinishedUpgrade } from '../../model/upgrade-note'
import { type Findings, featuresThatLack, isText, shortList } from './features'
import type { NodeShell, Place } from '../node-shell'
import { otherName } from '../own-name'
import { readIntent } from '../upgrade/intent'
import { scriptsThatStay } from './conffiles'
import { whatLacks } from './node-needs'
import { PROBE, productOf, readFacts, versionOf, type NodeFacts } from './probe'
import { DEFAULTS, KEPT } from './scripts'

export type Product = 'ganeti' | 'gantry'

export interface InventoryOptions {
  /** The product that is to take over. */
  readonly to: Product
  readonly paths: Paths
  readonly disk: Disk
  readonly random: Random
  readonly nodes: NodeClient
  readonly shell: NodeShell
  readonly config: ConfigData
  readonly roles: readonly Role[]
  /** The hypervisors that our nodes have. */
  readonly hypervisors: readonly string[]
  /** Names of Debian packages that will be available, such as nodejs. */
  readonly given: readonly string[]
}

export interface NodeReport {
  readonly name: string
  readonly role: 'master' | 'candidate' | 'node'
  readonly offline: boolean
  /** Undefined if the node did not answer, or has neither product's programs. */
  readonly product: Product | undefined
  readonly version: string | undefined
  readonly facts: NodeFacts | undefined
  readonly problems: readonly string[]
  readonly notes: readonly string[]
}

export interface Report {
  readonly cluster: string
  readonly config_version: string
  readonly instances: number
  readonly jobs: { readonly ended: number; readonly open: number }
  /** The master first. */
  readonly nodes: readonly NodeReport[]
  readonly problems: readonly string[]
  readonly notes: readonly string[]
}

/** The configuration of a cluster whose master is this node. Throws if it is not. */
export async function masterConfig({
  paths,
  disk,
  random,
}: Pick<InventoryOptions, 'paths' | 'disk' | 'random'>): Promise<ConfigData> {
  if (paths.root !== '')
    throw new OpPrereqError(
      'The nodes of this cluster are virtual, and run from the folder in which "npm start" was called: this is for real ones',
      ECODE.STATE,
    )
  const [master] = ((await disk.read(paths.ssconf('master_node')))?.toString('utf8') ?? '').trim().split('\n')
  if (!master) throw new OpPrereqError('This node is in no cluster', ECODE.STATE)
  if (master.startsWith(`${paths.hostname}.`))
    throw new OpPrereqError(`This may be the master node, but ${otherName(paths.hostname, master)}`, ECODE.ENVIRON)
  if (master !== paths.hostname)
    throw new OpPrereqError(`This is not the master node; run the command on ${master}`, ECODE.STATE)
  const config = await readConfig({ paths, disk, random })
  if (config === undefined) throw new OpPrereqError(`There is no ${paths.configFile}`, ECODE.STATE)
  return config
}

/** Asks every node at once; changes nothing. */
export async function takeInventory(options: InventoryOptions): Promise<Report> {
  const { config, hypervisors } = options
  const nodes = await Promise.all(nodesInOrder(config).map((node) => reportNode(options, node)))
  const queue = await readQueue(options)
  const { problems, notes } = featuresThatLack(config, hypervisors)
  const unfinished = await readIntent(options)
  return {
    cluster: config.cluster.cluster_name,
    config_version: versionText(config.version),
    instances: recordValues(config.instances).length,
    jobs: queue.jobs,
    nodes,
    problems: [...(unfinished === undefined ? [] : [unfinishedUpgrade(unfinished)]), ...problems],
    notes: [...notes, ...queue.notes],
  }
}

export const hasProblems = ({ problems, nodes }: Report): boolean =>
  problems.length > 0 || nodes.some((node) => node.problems.length > 0)

/** The master first. */
export function nodesInOrder({ nodes, cluster }: ConfigData): Node[] {
  const all = recordValues(nodes).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const isMaster = ({ uuid }: Node) => uuid === cluster.master_node
  return [...all.filter(isMaster), ...all.filter((node) => !isMaster(node))]
}

export const placeOf = (config: ConfigData, node: Node): Place => ({
  name: node.name,
  sshPort: fillNdParams(config, node).ssh_port,
})

async function reportNode(options: InventoryOptions, node: Node): Promise<NodeReport> {
  const { config, shell, nodes } = options
  const about = {
    name: node.name,
    role: node.uuid === config.cluster.master_node ? 'master' : node.master_candidate ? 'candidate' : 'node',
    offline: node.offline,
  } as const
  const nothing = { product: undefined, version: undefined, facts: undefined, problems: [], notes: [] }
  if (node.offline)
    return { ...about, ...nothing, notes: ['it is offline and left as it is; do the same again when it is back'] }
  const said = await shell.run(placeOf(config, node), PROBE, PROBE_S).catch((error: unknown) => ({
    code: null,
    output: errorText(error),
  }))
  if (said.code !== 0) return { ...about, ...nothing, problems: [`root cannot log in over SSH: ${said.output.trim()}`] }
  const facts = readFacts(said.output)
  const product = productOf(facts)
  const findings = judge(facts, node, options)
  const answer = await nodes.one(node, 'version', []).then(
    () => undefined,
    (error: unknown) => errorText(error),
  )
  const silent = answer === undefined ? [] : [`its node daemon does not answer: ${answer}`]
  return {
    ...about,
    product,
    version: product && versionOf(facts, product),
    facts,
    problems: findings.problems,
    notes: [...silent, ...findings.notes],
  }
}

function judge(facts: NodeFacts, node: Node, options: InventoryOptions): Findings {
  const changes = options.to === 'gantry' && productOf(facts) !== 'gantry'
  const found = changes ? [whatLacks(facts, node, options.config), scriptsThatStay(facts.scripts, options.config)] : []
  const problems =
    options.to === 'gantry'
      ? [...whyNotToGantry(facts, node, options), ...found.flatMap((one) => one.problems)]
      : whyNotToGaneti(facts)
  const notes = [
    ...found.flatMap((one) => one.notes),
    !facts.systemd && 'no systemd runs here: daemons are started by daemon-util',
  ]
  return { problems: problems.filter(isText), notes: notes.filter(isText) }
}

function whyNotToGantry(facts: NodeFacts, node: Node, { roles, given: input }: InventoryOptions): (string | false)[] {
  if (productOf(facts) === 'gantry') return []
  const version = versionOf(facts, 'ganeti')
  return [
    version === undefined && 'there is no Debian package of Ganeti here, and the exchange of others is not known',
    version !== undefined && !isKnown(version) && `Ganeti ${version} is not known; 3.0 and 3.1 are`,
    facts.wayBack === undefined &&
      `there would be no way back: neither ${KEPT} nor apt has the package ganeti that is installed`,
    !input.includes('nodejs') &&
      !isNewEnough(facts.node) &&
      `/usr/bin/node is ${facts.node ?? 'not there'}, and 20.19 or newer is needed: install it, or put its package beside the others`,
    facts.room_mib < ROOM_MIB && `/usr has ${facts.room_mib} MiB left, and ${ROOM_MIB} are needed`,
    otherName(facts.hostname ?? node.name, node.name) ?? false,
    ...refusedArguments(facts, roles),
  ]
}

const whyNotToGaneti = (facts: NodeFacts): (string | false)[] => [
  productOf(facts) !== 'ganeti' &&
    facts.wayBack !== 'here' &&
    `the package ganeti is not in ${KEPT}: put the one there to which the node is to go back`,
]

const isKnown = (version: string): boolean =>
  CONFIG_VERSIONS_SUPPORTED.some((known) => version.replace(/^\d+:/, '').startsWith(versionText(known)))

function isNewEnough(node: string | undefined): boolean {
  const [major = 0, minor = 0] = (node ?? '').replace(/^v/, '').split('.').map(Number)
  return major > 20 || (major === 20 && minor >= 19)
}

/** The daemons would not start with what stands in /etc/default/ganeti, or others than Ganeti's would. */
function refusedArguments(facts: NodeFacts, roles: readonly Role[]): string[] {
  return roles.flatMap((role) => {
    const own = `${role.name.toUpperCase()}_ARGS`
    const problems = [own, `EXTRA_${own}`].map((name) => whyRefused(facts, role, name))
    return problems.flatMap((problem) => (problem === undefined ? [] : [`${DEFAULTS}: ${problem}`]))
  })
}

function whyRefused({ arguments: input, written, systemd }: NodeFacts, role: Role, name: string): string | undefined {
  const text = input.get(name) ?? ''
  if (systemd && readBySystemd(written.get(name) ?? '') !== text)
    return (
      `systemd, which starts Gantry's daemons, does not read ${name} as Ganeti's shell does: ` +
      `let the line be ${name}="${text}", and a comment stand in a line of its own`
    )
  try {
    readOptions(role, text.split(/\s+/).filter(Boolean))
    return undefined
  } catch (error) {
    return errorText(error)
  }
}

/** It knows quotes around all, and no comment behind a value. Undefined for what is read otherwise than it looks. */
function readBySystemd(written: string): string | undefined {
  const quoted = /^"([^"\\$`]*)"$|^'([^']*)'$/.exec(written)
  if (quoted !== null) return (quoted[1] ?? quoted[2] ?? '').trim()
  return /["'\\$`]/.test(written) ? undefined : written
}

/** As both products name it: 3.0. */
const versionText = (version: number): string => `${Math.floor(version / 1e6)}.${Math.floor(version / 1e4) % 100}`

async function readQueue({ disk, paths }: InventoryOptions) {
  const names = (await disk.list(paths.queueDir)).filter((name) => /^job-\d+$/.test(name))
  const unreadable: string[] = []
  let open = 0
  for (const name of names) {
    try {
      const { ops } = parseJob((await disk.read(`${paths.queueDir}/${name}`))?.toString('utf8') ?? '')
      if (ops.some(({ status }) => !isFinal(status))) open++
    } catch (error) {
      unreadable.push(`${name} (${errorText(error)})`)
    }
  }
  const notes = unreadable.length === 0 ? [] : [`jobs that cannot be read are left alone: ${shortList(unreadable)}`]
  return { jobs: { ended: names.length - unreadable.length - open, open }, notes }
}
