// A RAPI door on loopback in front of a master that knows what the recorded cluster knew.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import * as path from 'node:path'
import * as tls from 'node:tls'
import { systemFiles } from '../../../../src/lib/files'
import { type Rapi, type RapiOptions, startRapi } from '../../../../src/daemons/rapi/server'
import { systemClock } from '../../../../src/lib/clock'
import { silentLog } from '../../../../src/lib/log'
import { pathsOf } from '../../../../src/lib/paths'
import { systemRandom } from '../../../../src/lib/random'
import { createCertificate } from '../../../../src/lib/tls'
import { GenericError, OpPrereqError } from '../../../../src/model/errors'
import type { Master } from '../../../../src/rpc/luxi/master'
import type { WireOpCode } from '../../../../src/rpc/luxi/calls'
import { textOfCalls } from '../../../support/text-calls'
import reads from '../../../golden/rapi/reads.json'

export interface Recording {
  name: string
  /** The bytes of the request. */
  request: string
  status: number
  body: string
}

export const USERS = [
  '# comment line',
  'admin secret write',
  'reader {cleartext}foo555 read',
  'nobody plainpw',
  'jessica {HA1}ce006dc99e4d8a8db047518e190e0d0c write',
  'colon a:b:c write',
].join('\n')

export const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

export interface Answer {
  status: number
  headers: Record<string, string>
  body: string
}

export class Harness {
  private constructor(
    readonly rapi: Rapi,
    readonly usersFile: string,
    private readonly directory: string,
  ) {}

  static async start(master: Master, more: Partial<RapiOptions> = {}): Promise<Harness> {
    const directory = mkdtempSync(path.join(tmpdir(), 'gantry-rapi-'))
    const paths = pathsOf(directory, 'node1')
    mkdirSync(path.dirname(paths.rapiUsers), { recursive: true })
    writeFileSync(paths.rapiUsers, USERS)
    writeFileSync(paths.rapiCert, await createCertificate())
    const shared = {
      paths,
      master,
      log: silentLog,
      clock: systemClock,
      random: systemRandom,
      files: systemFiles,
      addresses: ['127.0.0.1'],
      port: 0,
    }
    return new Harness(await startRapi({ ...shared, ...more }), paths.rapiUsers, directory)
  }

  async stop(): Promise<void> {
    await this.rapi.close()
    rmSync(this.directory, { recursive: true })
  }

  /** Sends bytes as they are, and reads until the server has answered whole or hung up. */
  raw(request: string): Promise<Answer> {
    const [address] = this.rapi.addresses
    return new Promise((resolve, reject) => {
      const socket = tls.connect({ host: '127.0.0.1', port: address?.port, rejectUnauthorized: false })
      let received = ''
      const finish = () => {
        socket.destroy()
        resolve(parseAnswer(received))
      }
      socket.setEncoding('latin1')
      socket.on('secureConnect', () => socket.write(Buffer.from(request, 'latin1')))
      socket.on('data', (data: string) => {
        received += data
        if (isWhole(received)) finish()
      })
      socket.on('end', finish).on('error', reject)
    })
  }

  ask(method: string, url: string, options: { body?: unknown; as?: string; headers?: string[] } = {}): Promise<Answer> {
    const { body, as = basic('admin', 'secret'), headers = [] } = options
    const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
    const type =
      body === undefined ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`]
    const lines = [`${method} ${url} HTTP/1.1`, 'Host: x', `Authorization: ${as}`, ...type, ...headers, '', text]
    return this.raw(Buffer.from(lines.join('\r\n'), 'utf8').toString('latin1'))
  }
}

function isWhole(text: string): boolean {
  const { headers, body, status } = parseAnswer(text)
  if (status === 100 || !text.includes('\r\n\r\n')) return false
  if (status === 204) return true
  return headers['content-length'] !== undefined && body.length >= Number(headers['content-length'])
}

function parseAnswer(text: string): Answer {
  const answer = text.startsWith('HTTP/1.1 100') ? text.slice(text.indexOf('\r\n\r\n') + 4) : text
  const [head = '', ...rest] = answer.split('\r\n\r\n')
  const [line = '', ...lines] = head.split('\r\n')
  const headers = lines.map((entry) => [entry.split(':')[0]?.toLowerCase() ?? '', entry.slice(entry.indexOf(':') + 2)])
  return { status: Number(line.split(' ')[1]), headers: Object.fromEntries(headers), body: rest.join('\r\n\r\n') }
}

type Objects = Map<string, Record<string, unknown>>

/** Answers from recordings of single objects; what a test does not need, it must not call. */
export class RecordedMaster implements Partial<Master> {
  readonly text = textOfCalls(this as unknown as Master)
  readonly submitted: WireOpCode[][] = []
  private readonly instances = objectsOf(/^get-\d+-instance-inst\d\.gnt\.example$/)
  private readonly nodes = objectsOf(/^get-\d+-node-node\d\.gnt\.example$/)
  private readonly networks = objectsOf(/^get-\d+-network-net\d$/)
  private readonly groups = new Map(
    recordedJson<{ name: string }[]>('get-013-2_groups_bulk_1').map((group) => [group.name, group]),
  )

  async submitJob(ops: readonly WireOpCode[]) {
    this.submitted.push([...ops])
    return 700 + this.submitted.length
  }
  async waitForJobChange() {
    const rows = [
      ['debootstrap', ['default']],
      ['noop', []],
    ]
    return [['success', [rows]], []] as [unknown[], []]
  }
  async queryClusterInfo() {
    const { vg_name: _vg, drbd_helper: _helper, ...info } = recordedJson<Record<string, unknown>>('get-004-2_info')
    return info
  }
  queryInstances = (names: readonly string[], fields: readonly string[], lock: boolean) => {
    const extra = { 'inst1.gnt.example': recordedJson('get-022-instance-console-inst1.gnt.example') }
    return rows('Instance', this.instances, names, fields, lock, extra)
  }
  queryNodes = (names: readonly string[], fields: readonly string[], lock: boolean) =>
    rows('Node', this.nodes, names, fields, lock)
  queryNetworks = (names: readonly string[], fields: readonly string[], lock: boolean) =>
    rows('Network', this.networks, names, fields, lock)
  queryGroups = (names: readonly string[], fields: readonly string[], lock: boolean) =>
    rows('Group', this.groups, names, fields, lock)
  async queryFilters() {
    return []
  }
  async queryJobs(ids: readonly (number | string)[] | null, fields: readonly string[]) {
    const known = recordedJson<Record<string, unknown>>('get-070-job-150')
    return (ids ?? [150]).map((id) => fields.map((field) => (field === 'id' ? id : id === 150 ? known[field] : null)))
  }
  async queryTags(kind: string, name: string): Promise<string[]> {
    if (kind === 'cluster') return recordedJson('get-007-2_tags')
    if (name.startsWith('nosuch')) throw new OpPrereqError(`Instance name ${name} not found`, 'unknown_entity')
    return recordedJson(kind === 'network' ? 'get-066-network-tags-net1' : 'get-021-instance-tags-inst1.gnt.example')
  }
  async query(what: string, fields: readonly string[], filter: unknown): Promise<never> {
    const value = JSON.stringify([what, fields, filter]).replaceAll(',', ', ')
    throw new GenericError(
      `Failed to parse request: Cannot convert value '${value}', error: ` +
        (what === 'node'
          ? `Unknown filter operand 'bogusop'`
          : `Can't parse value '${what}' as neitherQueryTypeLuxi nor QueryTypeOp`),
    )
  }
}

async function rows(
  kind: string,
  objects: Objects | ReadonlyMap<string, object>,
  names: readonly string[],
  fields: readonly string[],
  lock: boolean,
  consoles: Record<string, unknown> = {},
): Promise<unknown[][]> {
  if (lock) throw new OpPrereqError('Sync queries are not allowed', 'wrong_input')
  const desired = names.length > 0 ? names : [...objects.keys()]
  return desired.map((name) => {
    const found = objects.get(name)
    if (found === undefined) throw new OpPrereqError(`${kind} name ${name} not found`, 'unknown_entity')
    const more = { console: consoles[name], 'be/maxmem': Reflect.get(Object(Reflect.get(found, 'beparams')), 'maxmem') }
    return fields.map((field) => Reflect.get({ ...found, ...more }, field) ?? null)
  })
}

const recordings: Recording[] = reads

function objectsOf(pattern: RegExp): Objects {
  const found = recordings.filter(({ name, status }) => pattern.test(name) && status === 200)
  return new Map(found.map(({ body }) => [JSON.parse(body).name, JSON.parse(body)]))
}

function recordedJson<T = unknown>(name: string): T {
  return JSON.parse(recordings.find((entry) => entry.name === name)?.body ?? 'null')
}
