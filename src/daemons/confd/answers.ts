// confd's answer to each kind of question, from one state of the configuration. Texts and numbers of errors are
// Ganeti's.
import type { ConfigQuestions } from '../../config/questions'
import { haskellText } from '../../lib/text/haskell-text'
import { isObject } from '../../lib/shapes/shape'
import type { ConfigData, Disk, GantryData, Instance, Node } from '../../model/config'
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
import { openPart, withoutSecrets } from './without-secrets'

/** A snapshot that answers. */
export interface Asked {
  readonly questions: ConfigQuestions
  /** The public part of gantry.data. */
  readonly gantry: Pick<GantryData, 'sections'>
}

type Answering = (requested: Asked, query: ConfdQuery) => ConfdReply

export function answerTo(requested: Asked, { question, query }: Pick<ConfdRequest, 'question' | 'query'>): ConfdReply {
  try {
    return ANSWERS[question](requested, query)
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
  [CONFD.ping]: ({ questions }) => ok(questions.config.version, 0),
  [CONFD.nodeRole]: ({ questions }, query) => {
    const node = nodeNamed(questions, query)
    if (typeof node === 'string')
      throw new Refusal(
        `Failure: prerequisites not met for this operation:\nerror type: ECodeNoEnt, error details:\n${node}`,
      )
    return ofCluster(questions, CONFD_ROLE[questions.roleOf(node)])
  },
  [CONFD.nodeOfInstanceIp]: ({ questions }, query) => {
    if (query === null || typeof query === 'string') return BAD_ARGUMENT
    const { link = questions.defaultLink, ip, ips } = query
    if (ip !== undefined) return nodeOfIp(questions, link, ip)
    const all = ips.map((one) => nodeOfIp(questions, link, one))
    return ofCluster(
      questions,
      all.map(({ status, answer, serial }) => [status, answer, serial]),
    )
  },
  [CONFD.clusterMaster]: ({ questions }, query) => {
    if (typeof query === 'string') return BAD_ARGUMENT
    const { cluster } = questions.config
    const master = questions.master()
    if (master === undefined) throw new Refusal(noEntry(`Node name ${cluster.master_node} not found`))
    // In the order of MASTER_FIELD.
    const values = [master.name, cluster.master_ip, master.primary_ip]
    return ofCluster(questions, query === null ? master.name : query.fields.map((field) => values[field]))
  },
  [CONFD.nodeIps]: ({ questions }) => ofCluster(questions, ipsOf(questions.nodes())),
  [CONFD.candidateIps]: ({ questions }) => ofCluster(questions, ipsOf(questions.candidates())),
  [CONFD.instanceIps]: ({ questions }, query) => {
    if (query !== null && typeof query !== 'string') throw new Refusal('Invalid query type')
    return ofCluster(questions, questions.instanceAddresses(query ?? questions.defaultLink))
  },
  [CONFD.nodeDrbd]: ({ questions }, query) => {
    const node = nodeNamed(questions, query)
    if (typeof node === 'string') throw new Refusal(noEntry(node))
    return ok(minorsOn(questions, node), node.serial_no)
  },
  [CONFD.nodeInstances]: ({ questions }, query) => {
    const node = nodeNamed(questions, query)
    if (typeof node === 'string') throw new Refusal(`Node not found in the configuration: ${noEntry(node)}`)
    const { primary, secondary } = questions.instancesOn(node.uuid)
    return ok(withoutSecrets([primary, secondary]), node.serial_no)
  },
  [CONFD.instanceDisks]: ({ questions }, query) => {
    const instance = instanceNamed(questions, query)
    if (typeof instance === 'string') throw new Refusal(`Instance not found in the configuration: ${noEntry(instance)}`)
    return ok(withoutSecrets(disksOf(questions, instance)), instance.serial_no)
  },
  [CONFD.configQuery]: ({ questions, gantry }, query) => {
    const pointer = textOf(query)
    const value = pointer === DIAGNOSE_AT ? diagnoseProgram(gantry) : valueAt(questions.config, pointer)
    return value === undefined ? BAD_ARGUMENT : ofCluster(questions, value)
  },
  [CONFD.dataCollectors]: ({ questions }) => ofCluster(questions, collectorsOf(questions.config)),
}

const nodeNamed = (questions: ConfigQuestions, query: ConfdQuery): Node | string => {
  const name = textOf(query)
  return onlyOne('Node', questions.nodesNamed(name), name)
}

const instanceNamed = (questions: ConfigQuestions, query: ConfdQuery): Instance | string => {
  const name = textOf(query)
  return onlyOne('Instance', questions.instancesNamed(name), name)
}

/** Or Ganeti's error text. */
function onlyOne<T>(kind: string, [first, another]: readonly T[], name: string): T | string {
  if (first === undefined) return `${kind} name ${name} not found`
  return another === undefined ? first : `${kind} name ${name} has multiple matches`
}

/**
 * A field of later Ganeti versions, which we keep in gantry.data. As in Ganeti, it is missing if nobody ever set it.
 */
const DIAGNOSE_AT = '/cluster/diagnose_data_collector_filename'

function diagnoseProgram(gantry: Asked['gantry']): string | undefined {
  const { diagnose_command } = maintenanceSettings(gantry)
  return diagnose_command === '' ? undefined : diagnose_command
}

const ok = (answer: unknown, serial: number): ConfdReply => ({ status: CONFD_STATUS.ok, answer, serial })

const ofCluster = ({ config }: ConfigQuestions, answer: unknown): ConfdReply => ok(answer, config.cluster.serial_no)

/** An error in the form of Ganeti's Haskell code. */
const noEntry = (text: string): string => `OpPrereqError ${haskellText(text)} ECodeNoEnt`

function textOf(query: ConfdQuery): string {
  if (typeof query === 'string') return query
  throw new Refusal(`Invalid query type ${query === null ? 'EmptyQuery' : `DictQuery (${displayed(query)})`}`)
}

const FIELD_NAMES = ['ReqFieldName', 'ReqFieldIp', 'ReqFieldMNodePip']

function displayed({ ip, ips, link, fields }: Exclude<ConfdQuery, string | null>): string {
  const maybe = (text: string | undefined) => (text === undefined ? 'Nothing' : `Just ${haskellText(text)}`)
  return (
    `ConfdReqQ {confdReqQIp = ${maybe(ip)}, confdReqQIpList = [${ips.map(haskellText).join(',')}], ` +
    `confdReqQLink = ${maybe(link)}, confdReqQFields = [${fields.map((field) => FIELD_NAMES[field]).join(',')}]}`
  )
}

function nodeOfIp(questions: ConfigQuestions, link: string, ip: string): ConfdReply {
  const instance = questions.instanceAt(link, ip)
  const node = instance && questions.primaryOf(instance)
  return node === undefined ? UNKNOWN_ENTRY : ofCluster(questions, node.primary_ip)
}

/** The last uuid comes first, as in Ganeti. */
const ipsOf = (nodes: readonly Node[]): string[] => nodes.map((node) => node.primary_ip).reverse()

const minorsOn = (questions: ConfigQuestions, node: Node): unknown[] =>
  questions.minorsOn(node).map(({ minor, instance, disk, peer }) => {
    const role = instance.primary_node === node.uuid ? 'primary' : 'secondary'
    return [node.name, minor, instance.name, `disk/${disk}`, role, questions.nodeName(peer)]
  })

/** One that is gone is an error. */
function disksOf({ config }: ConfigQuestions, instance: Instance): Disk[] {
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
