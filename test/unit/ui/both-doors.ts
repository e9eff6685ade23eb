// A request of the console, through the product's own doors: as curl sends it, and as the command line that is said beside it. What reaches the
// master by each is noted, and compared.
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import * as https from 'node:https'
import { isDeepStrictEqual } from 'node:util'
import { allOpcodes, fillOpcode } from '../../../src/opcodes/index'
import type { WireOpCode } from '../../../src/rpc/luxi/calls'
import type { Identity } from '../../../src/rpc/luxi/gantry'
import type { GantryMaster } from '../../../src/rpc/luxi/gantry-calls'
import { type Body, type ConsoleRequest, consoleModule } from '../../support/console-actions'
import type { ConfigData } from '../../../src/model/config'
import { FakeMaster } from '../../support/fake-master'
import { goldenConfig, goldenSource } from '../../support/golden-query'
import { runCli } from '../../support/run-cli'
import { basic, Harness } from '../daemons/rapi/harness'

type Sent = Pick<ConsoleRequest, 'method' | 'path' | 'body'>

export class BothDoors {
  /** One connection for all, because making one takes longest. */
  private readonly agent = new https.Agent({ keepAlive: true, maxSockets: 1 })

  private constructor(
    private readonly master: NotingMaster,
    private readonly harness: Harness,
  ) {}

  static async open(): Promise<BothDoors> {
    const master = new NotingMaster()
    return new BothDoors(master, await Harness.start(master))
  }

  async close(): Promise<void> {
    this.agent.destroy()
    await this.harness.stop()
  }

  /** How that which gnt does differs from that which the console does; undefined when it does not. */
  async difference(request: ConsoleRequest): Promise<string | undefined> {
    const sent = sentByCurl(curlText(request, 'https://cluster.example:5080'))
    const { method, path, body } = request
    if (!isDeepStrictEqual(sent, plain({ method, path, body }))) return `curl sends ${JSON.stringify(sent)}`
    const http = await this.byHttp(sent)
    if (http.told !== '' || http.noted.length === 0) return `${JSON.stringify(body)} ${http.told}`
    const command = await this.byCommand(request.gnt)
    if (isDeepStrictEqual(http.noted, command.noted)) return undefined
    const how = command.noted.length === 0 ? [command.told] : changesOf(http.noted, command.noted)
    return [request.gnt, ...how].join('\n  ')
  }

  /** What of it reaches the master: opcodes, or calls with their arguments. */
  async reached({ method, path, body }: Sent): Promise<unknown[]> {
    const { noted, told: reported } = await this.byHttp({ method, path, body })
    if (reported !== '') throw new Error(reported)
    return noted
  }

  private async byHttp({ method, path, body }: Sent) {
    const text = Object.keys(body).length === 0 ? '' : JSON.stringify(body)
    const headers = {
      Authorization: basic('admin', 'secret'),
      ...(text !== '' && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }),
    }
    const port = this.harness.rapi.addresses[0]?.port
    const address = { host: '127.0.0.1', port, path, agent: this.agent, rejectUnauthorized: false }
    const requested = https.request({ ...address, method, headers })
    requested.end(text)
    const [answer] = (await once(requested, 'response')) as [IncomingMessage]
    const reported = (await answer.setEncoding('utf8').toArray()).join('')
    return {
      noted: this.master.take(),
      told: Number(answer.statusCode) < 300 ? '' : `${answer.statusCode} ${reported}`,
    }
  }

  private async byCommand(text: string) {
    const { stderr, questions, answeredBy } = await runCli(this.master, wordsOf(text))
    return { noted: this.master.take(), told: [stderr, ...questions, ...answeredBy].join('\n') }
  }
}

function changesOf(http: readonly unknown[], command: readonly unknown[]): string[] {
  if (http.length !== 1 || command.length !== 1)
    return [`the console ${JSON.stringify(http)}`, `gnt ${JSON.stringify(command)}`]
  const [one, other] = [Object(http[0]) as Body, Object(command[0]) as Body]
  return [...new Set([...Object.keys(one), ...Object.keys(other)])]
    .filter((name) => !isDeepStrictEqual(one[name], other[name]))
    .map((name) => `${name}: the console ${JSON.stringify(one[name])}, gnt ${JSON.stringify(other[name])}`)
}

/** The words that a shell makes of a line. */
function wordsOf(line: string): string[] {
  const found = line.match(/(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])+/g) ?? []
  return found.map((word) =>
    word.replaceAll(
      /'([^']*)'|"([^"]*)"|\\(.)/g,
      (_, single?: string, double?: string, one?: string) => single ?? double ?? one ?? '',
    ),
  )
}

/** Notes what reaches the master, by either door. */
class NotingMaster extends FakeMaster {
  constructor() {
    super([], goldenSource(withMirror(goldenConfig())))
  }

  readonly noted: unknown[] = []
  readonly gantry = new Proxy({} as GantryMaster, {
    get:
      (_, name) =>
      (identity: Identity, ...args: unknown[]) =>
        this.answer(String(name), identity, args),
  })

  private async answer(name: string, { user }: Identity, args: readonly unknown[]): Promise<unknown> {
    if (name === 'submit') return { job: await this.submitJob(Reflect.get(Object(args[0]), 'ops')), replayed: false }
    const input = args.filter((one) => !(one instanceof AbortSignal)).map((one) => withSilence(name, one))
    this.noted.push([name, ...plain(input), ...(name === 'addToken' ? [user] : [])])
    return ANSWERS[name]
  }

  /** Ganeti's own calls, by which gnt does the same. */
  take(): unknown[] {
    const calls = this.calls.splice(0).map(([name, first, ...args]) =>
      // gnt can also kill the process of a job.
      name === 'cancelJob' ? ['cancel', first] : [CALLS[String(name)] ?? name, ...plain([first, ...args])],
    )
    return [...this.noted.splice(0), ...calls]
  }

  override async submitJob(ops: readonly WireOpCode[]) {
    this.noted.push(...ops.map(plainOpcode))
    return 7
  }
}

/** Where an instance has its first disk mirrored from node1 to node2. */
function withMirror(config: ConfigData): ConfigData {
  const [node1, node2] = ['node1.gnt.example', 'node2.gnt.example'].map(
    (name) => Object.values(config.nodes).find((node) => node.name === name)?.uuid,
  )
  const instance = Object.values(config.instances).find(({ disks }) => disks.length > 0)
  const disk = instance?.disks[0] && config.disks[instance.disks[0]]
  if (node1 === undefined || node2 === undefined || instance === undefined || disk === undefined)
    throw new Error('nothing can be mirrored')
  const logical_id = [node1, node2, 11000, 0, 0, 's']
  const mirror = { ...disk, dev_type: 'drbd' as const, logical_id, children: [disk, disk], nodes: [node1, node2] }
  return {
    ...config,
    disks: { ...config.disks, [disk.uuid]: mirror },
    instances: { ...config.instances, [instance.uuid]: { ...instance, primary_node: node1, disks: [disk.uuid] } },
  }
}

/** A question in which nothing said is the same as no. */
const withSilence = (name: string, requested: unknown): unknown =>
  name in QUESTIONS ? { ...QUESTIONS[name], ...(requested as Body | null) } : requested

const QUESTIONS: Readonly<Record<string, Body>> = {
  balance: { explain: false, evacuate: false, restricted_migration: false, disk_moves: true, instance_moves: true },
  ...{ capacity: { explain: false }, whatIf: { explain: false } },
}

const CALLS: Readonly<Record<string, string>> = {
  ...{ changeJobPriority: 'changePriority', archiveJob: 'archive' },
  ...{ setDrainFlag: 'drainQueue', setWatcherPause: 'pauseWatcher' },
}

const ANSWERS: Readonly<Record<string, unknown>> = {
  balance: {
    answer: {
      ...{ groups: [], steps: [], ops: [], preconditions: [], plan: null, expires: null },
      ...{ more: false, left_out: null },
    },
  },
  capacity: { answer: { fits: 0, groups: [] } },
  monitoring: { items: [], next: null },
  whatIf: {
    answer: {
      ...{ dead: [], restored: [], lost: [], mirrored: [], unmirrored: [], already_down: [], placed: [], refused: [] },
      ...{ without_reserve: [], groups: [] },
    },
  },
  ...{ cancel: [true, ''], changePriority: [true, ''], archive: [true, ''], replaceFilter: 'uuid' },
  ...{ setMaintenance: 7, acknowledgeRepair: 7, maintenance: { settings: {} }, cancelRepair: { node_name: 'node1' } },
  pauseWatcher: { paused_until: null, next_run: null, groups: [] },
  addToken: {
    token: { id: 't', user: 'admin', name: 'n', permissions: [], tags: [], groups: [], created: 0, expires: null },
    secret: '',
  },
}

/** As JSON has it, and times to the minute from now on: they are not read at the same moment. */
const plain = <T>(reported: T): T =>
  JSON.parse(JSON.stringify(reported), (_, value: unknown) => {
    const now_s = Date.now() / 1000
    if (typeof value !== 'number' || value < now_s - 60) return value
    return value > 1e15 ? 'now' : `in ${Math.round((value - now_s) / 60)} minutes`
  })

const COMMON = new Set(['reason', 'priority', 'depends', 'comment'])

/** Without what every opcode has, and with the defaults of the others. */
function plainOpcode({ OP_ID, ...params }: WireOpCode): unknown {
  const definition = allOpcodes.get(OP_ID)
  if (definition === undefined) throw new Error(OP_ID)
  const op: Body = { ...fillOpcode(definition, params) }
  // These parameters have no default, and mean the same when they are left out as when they are false.
  const no = { no_install: op['no_install'] ?? false, ignore_soft_errors: op['ignore_soft_errors'] ?? false }
  const own = Object.entries({ ...op, ...no, OP_ID }).filter(([name]) => !COMMON.has(name))
  return plain(Object.fromEntries(own))
}

export const { curlText } = consoleModule<{ curlText(request: ConsoleRequest, origin: string): string }>(
  'parts/copy-as.tsx',
)

/** What curl is told, put together again. */
function sentByCurl(text: string): Sent {
  const words = wordsOf(text)
  const after = (option: string) => words[words.indexOf(option) + 1] ?? ''
  const url = new URL(words.find((word) => word.startsWith('https://')) ?? '')
  return {
    method: after('-X'),
    path: url.pathname + url.search,
    body: words.includes('-d') ? (JSON.parse(after('-d')) as Body) : {},
  }
}
