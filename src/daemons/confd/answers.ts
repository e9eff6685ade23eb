// confd's answer to each kind of question, from one state of the configuration. Texts and numbers of errors are
// Ganeti's.
import { drbdId, masterNode, primaryInstances, secondaryInstances } from '../../config/lookup'
import { recordValues } from '../../config/records'
import { haskellText } from '../../lib/text/haskell-text'
import { isObject } from '../../lib/shapes/shape'
import type { ConfigData, Disk, Instance, Node } from '../../model/config'
import { maintenanceSettings } from '../../model/maintenance'
import { compareText } from '../../model/nice-sort'
import {
  CONFD,
  CONFD_ERROR,
  CONFD_ROLE,
  CONFD_STATUS,
  type ConfdQuery,
  type ConfdQuestion,
  type ConfdReply,
  type ConfdRequest,
} from '../../rpc/confd/protocol'
import type { ConfigView } from './config-view'
import { openPart, withoutSecrets } from './without-secrets'

type Answering = (view: ConfigView, query: ConfdQuery) => ConfdReply

export function answerTo(view: ConfigView, { question, query }: Pick<ConfdRequest, 'question' | 'query'>): ConfdReply {
  try {
    return ANSWERS[question](view, query)
  } catch (error) {
    if (error instanceof Refusal) return refused(error.message)
    throw error
  }
}

/** An error with a text. */
export const refused = (text: string): ConfdReply => ({ status: CONFD_STATUS.error, answer: text, serial: 0 })

class Refusal extends Error {}

const BAD_ARGUMENT: ConfdReply = { status: CONFD_STATUS.error, answer: CONFD_ERROR.badArgument, serial: 0 }
const UNKNOWN_ENTRY: ConfdReply = { status: CONFD_STATUS.error, answer: CONFD_ERROR.unknownEntry, serial: 0 }

const ANSWERS: Readonly<Record<ConfdQuestion, Answering>> = {
  [CONFD.ping]: ({ config }) => ok(config.version, 0),
  [CONFD.nodeRole]: (view, query) => {
    const node = view.node(textOf(query))
    if (typeof node === 'string')
      throw new Refusal(
        `Failure: prerequisites not met for this operation:\nerror type: ECodeNoEnt, error details:\n${node}`,
      )
    return ofCluster(view, roleOf(view.config, node))
  },
  [CONFD.nodeOfInstanceIp]: (view, query) => {
    if (query === null || typeof query === 'string') return BAD_ARGUMENT
    const { link = view.defaultLink, ip, ips } = query
    if (ip !== undefined) return nodeOfIp(view, link, ip)
    const all = ips.map((one) => nodeOfIp(view, link, one))
    return ofCluster(
      view,
      all.map(({ status, answer, serial }) => [status, answer, serial]),
    )
  },
  [CONFD.clusterMaster]: (view, query) => {
    if (typeof query === 'string') return BAD_ARGUMENT
    const { cluster } = view.config
    const master = masterNode(view.config)
    if (master === undefined) throw new Refusal(noEntry(`Node name ${cluster.master_node} not found`))
    // In the order of MASTER_FIELD.
    const values = [master.name, cluster.master_ip, master.primary_ip]
    return ofCluster(view, query === null ? master.name : query.fields.map((field) => values[field]))
  },
  [CONFD.nodeIps]: (view) => ofCluster(view, ipsOf(recordValues(view.config.nodes))),
  [CONFD.candidateIps]: (view) =>
    ofCluster(view, ipsOf(recordValues(view.config.nodes).filter((node) => node.master_candidate))),
  [CONFD.instanceIps]: (view, query) => {
    if (query !== null && typeof query !== 'string') throw new Refusal('Invalid query type')
    return ofCluster(view, view.instanceIps(query ?? view.defaultLink))
  },
  [CONFD.nodeDrbd]: (view, query) => {
    const node = view.node(textOf(query))
    if (typeof node === 'string') throw new Refusal(noEntry(node))
    return ok(minorsOn(view.config, node), node.serial_no)
  },
  [CONFD.nodeInstances]: (view, query) => {
    const { config } = view
    const node = view.node(textOf(query))
    if (typeof node === 'string') throw new Refusal(`Node not found in the configuration: ${noEntry(node)}`)
    const all = [primaryInstances(config, node.uuid), secondaryInstances(config, node.uuid)]
    return ok(withoutSecrets(all), node.serial_no)
  },
  [CONFD.instanceDisks]: (view, query) => {
    const instance = view.instance(textOf(query))
    if (typeof instance === 'string') throw new Refusal(`Instance not found in the configuration: ${noEntry(instance)}`)
    return ok(withoutSecrets(disksOf(view.config, instance)), instance.serial_no)
  },
  [CONFD.configQuery]: (view, query) => {
    const pointer = textOf(query)
    const value = pointer === DIAGNOSE_AT ? diagnoseProgram(view) : valueAt(view.config, pointer)
    return value === undefined ? BAD_ARGUMENT : ofCluster(view, value)
  },
  [CONFD.dataCollectors]: (view) => ofCluster(view, collectorsOf(view.config)),
}

/**
 * A field of later Ganeti versions, which we keep in gantry.data. As in Ganeti, it is missing if nobody ever set it.
 */
const DIAGNOSE_AT = '/cluster/diagnose_data_collector_filename'

function diagnoseProgram({ gantry }: ConfigView): string | undefined {
  const { diagnose_command } = maintenanceSettings(gantry)
  return diagnose_command === '' ? undefined : diagnose_command
}

const ok = (answer: unknown, serial: number): ConfdReply => ({ status: CONFD_STATUS.ok, answer, serial })

const ofCluster = ({ config }: ConfigView, answer: unknown): ConfdReply => ok(answer, config.cluster.serial_no)

/** An error in the form of Ganeti's Haskell code. */
const noEntry = (text: string): string => `OpPrereqError ${haskellText(text)} ECodeNoEnt`

function textOf(query: ConfdQuery): string {
  if (typeof query === 'string') return query
  throw new Refusal(`Invalid query type ${query === null ? 'EmptyQuery' : `DictQuery (${shown(query)})`}`)
}

const FIELD_NAMES = ['ReqFieldName', 'ReqFieldIp', 'ReqFieldMNodePip']

function shown({ ip, ips, link, fields }: Exclude<ConfdQuery, string | null>): string {
  const maybe = (text: string | undefined) => (text === undefined ? 'Nothing' : `Just ${haskellText(text)}`)
  return (
    `ConfdReqQ {confdReqQIp = ${maybe(ip)}, confdReqQIpList = [${ips.map(haskellText).join(',')}], ` +
    `confdReqQLink = ${maybe(link)}, confdReqQFields = [${fields.map((field) => FIELD_NAMES[field]).join(',')}]}`
  )
}

function roleOf({ cluster }: ConfigData, node: Node): number {
  if (cluster.master_node === node.uuid) return CONFD_ROLE.master
  if (node.drained) return CONFD_ROLE.drained
  if (node.offline) return CONFD_ROLE.offline
  return node.master_candidate ? CONFD_ROLE.candidate : CONFD_ROLE.regular
}

function nodeOfIp(view: ConfigView, link: string, ip: string): ConfdReply {
  const instance = view.instanceAt(link, ip)
  const node = instance && view.config.nodes[instance.primary_node]
  return node === undefined ? UNKNOWN_ENTRY : ofCluster(view, node.primary_ip)
}

/** The last uuid comes first, as in Ganeti. */
const ipsOf = (nodes: readonly Node[]): string[] => nodes.map((node) => node.primary_ip).reverse()

function minorsOn(config: ConfigData, node: Node): unknown[] {
  return recordValues(config.instances).flatMap((instance) => {
    const role = instance.primary_node === node.uuid ? 'primary' : 'secondary'
    return instance.disks.flatMap((uuid, index) =>
      minorsOf(config.disks[uuid], node).map(({ minor, peer }) => [
        ...[node.name, minor, instance.name, `disk/${index}`, role],
        config.nodes[peer]?.name ?? peer,
      ]),
    )
  })
}

function minorsOf(disk: Disk | undefined, node: Node): { minor: number; peer: string }[] {
  if (disk === undefined) return []
  const { nodeA, nodeB, minorA, minorB } = drbdId(disk) ?? {}
  const below = disk.children.flatMap((child) => minorsOf(child, node))
  if (minorA !== undefined && nodeB !== undefined && nodeA === node.uuid)
    return [{ minor: minorA, peer: nodeB }, ...below]
  if (minorB !== undefined && nodeA !== undefined && nodeB === node.uuid)
    return [{ minor: minorB, peer: nodeA }, ...below]
  return below
}

function disksOf(config: ConfigData, instance: Instance): Disk[] {
  return instance.disks.map((uuid) => {
    const disk = config.disks[uuid]
    if (disk !== undefined) return disk
    throw new Refusal(`Could not retrieve disks: ${noEntry(`Disk uuid ${uuid} not found`)}`)
  })
}

/** The value of a JSON pointer (RFC 6901); undefined if there is none. Never the whole configuration. */
function valueAt(config: ConfigData, pointer: string): unknown {
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return undefined
  const steps = pointer.slice(1).split('/')
  const keys = steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  return withoutSecrets(keys.reduce<unknown>(valueIn, config))
}

function valueIn(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return /^\d+$/.test(key) ? value[Number(key)] : undefined
  return isObject(value) && Object.hasOwn(value, key) ? openPart(value, key) : undefined
}

/** The collector of Xen instances does nothing in a cluster without Xen. */
function collectorsOf({ cluster }: ConfigData): object {
  const xen = cluster.enabled_hypervisors.some((name) => name === 'xen-pvm' || name === 'xen-hvm')
  const { 'inst-status-xen': status, ...others } = cluster.data_collectors
  const all =
    status === undefined ? others : { ...others, 'inst-status-xen': { ...status, active: status.active && xen } }
  return Object.fromEntries(Object.entries(all).sort(([a], [b]) => compareText(a, b)))
}
