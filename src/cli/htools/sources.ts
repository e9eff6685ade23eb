// Reads the cluster from its daemons: over the remote API, or over LUXI as the same records.
import * as http from 'node:http'
import * as https from 'node:https'
import { isIPv6 } from 'node:net'
import { BadClusterData } from '../../allocation/model/cluster-data'
import type { LiveRecords } from '../../allocation/sources/live-cluster'
import { HTOOLS_ANSWER_S } from '../../model/limits/htools'
import { whyNot } from '../../lib/text/why-not'
import type { Master } from '../../rpc/luxi/master'
import type { QueryResource } from '../../rpc/luxi/calls'
import type { Context } from './context'

const FILES = 'file://'
const RAPI_PORT = 5080

/** A host with or without a port, a URL, or `file://` and a folder with saved answers. */
export async function recordsFromRapi({ read: readText }: Context, master: string): Promise<LiveRecords> {
  const saved = master.startsWith(FILES) ? master.slice(FILES.length) : undefined
  const host = urlOf(master)
  const read = async (name: string, url: string): Promise<unknown> => {
    const text = saved === undefined ? await get(`${host}${url}`) : readFile(readText, `${saved}/${name}.json`)
    try {
      return JSON.parse(text)
    } catch {
      throw new BadClusterData(`Parsing ${name}: the answer is not JSON`)
    }
  }
  return {
    groups: await read('groups', '/2/groups?bulk=1'),
    nodes: await read('nodes', '/2/nodes?bulk=1'),
    instances: await read('instances', '/2/instances?bulk=1'),
    info: await read('info', '/2/info'),
  }
}

function urlOf(master: string): string {
  const host = master.replace(/\/+$/, '')
  if (host.includes('://')) return host
  if (isIPv6(host)) return `https://[${host}]:${RAPI_PORT}`
  // A name and a password may precede the host.
  return `https://${host}${/:\d+$/.test(host) ? '' : `:${RAPI_PORT}`}`
}

function readFile(read: Context['read'], file: string): string {
  try {
    return read(file)
  } catch (error) {
    throw new BadClusterData(whyNot(file, error))
  }
}

/** The cluster's certificate is self-signed, and nobody here knows it. */
function get(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new BadClusterData(`Error while reading '${url}': ${why}`))
    const options = { rejectUnauthorized: false, timeout: HTOOLS_ANSWER_S * 1000 }
    if (!URL.canParse(url)) return fail('this is no URL')
    const { protocol } = new URL(url)
    if (protocol !== 'http:' && protocol !== 'https:') return fail(`${protocol} is not spoken here, but https: is`)
    const request = (protocol === 'http:' ? http : https).get(url, options, (answer) => {
      const parts: Buffer[] = []
      answer.on('data', (part: Buffer) => void parts.push(part))
      answer.on('error', ({ message }) => fail(message))
      answer.on('end', () => {
        if (answer.statusCode === 200) resolve(Buffer.concat(parts).toString())
        else fail(`status ${answer.statusCode}`)
      })
    })
    request.on('timeout', () => request.destroy(new Error(`no answer within ${HTOOLS_ANSWER_S} s`)))
    request.on('error', ({ message }) => fail(message))
  })
}

const NODE_FIELDS =
  'name mtotal mnode mfree dtotal dfree ctotal cnos offline drained vm_capable ndp/spindle_count group.uuid tags ndp/exclusive_storage sptotal spfree ndp/cpu_speed'
const INSTANCE_FIELDS =
  'name disk_usage be/memory be/vcpus status pnode snodes tags be/auto_balance disk_template be/spindle_use disk.sizes disk.spindles forthcoming'
const GROUP_FIELDS = 'uuid name alloc_policy ipolicy tags'

export async function recordsFromLuxi(master: Master): Promise<LiveRecords> {
  const [nodes, instances, groups, info] = await Promise.all([
    rows(master, 'node', NODE_FIELDS),
    rows(master, 'instance', INSTANCE_FIELDS),
    rows(master, 'group', GROUP_FIELDS),
    master.queryClusterInfo(),
  ])
  return {
    groups,
    nodes: nodes.map((row) => ({ ...row, ndparams: within(row, 'ndp/') })),
    instances: instances.map((row) => ({ ...row, beparams: within(row, 'be/') })),
    info,
  }
}

type Row = Readonly<Record<string, unknown>>

/** Omits fields without data. */
async function rows(master: Master, what: QueryResource, fields: string): Promise<Row[]> {
  const names = fields.split(' ')
  const { data } = await master.query(what, names, null)
  return data.map((cells) =>
    Object.fromEntries(
      cells.flatMap(([status, value], at) => (status === 0 && value !== null ? [[names[at] ?? '', value]] : [])),
    ),
  )
}

const within = (row: Row, prefix: string): Row =>
  Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) =>
      name.startsWith(prefix) ? [[name.slice(prefix.length), value]] : [],
    ),
  )
