// Plugins: the administrator of a node adds programs, files and sockets to its reports by putting them into a folder. A
// plugin is trusted only as far as its owner and mode allow, and has limited time and room. A fault appears in the
// plugin's own report.
import * as path from 'node:path'
import type { Clock } from '../lib/clock'
import { isMissing } from '../lib/disk'
import { hasMoreValues, isDeeper } from '../lib/text/json-depth'
import type { Machine } from '../lib/machine'
import { readPlainFile } from '../lib/file/read-bounded'
import { runBounded } from '../lib/programs/run-command'
import { errorText } from '../lib/system-failure'
import { REPORT_CATEGORIES } from '../model/constants/collectors'
import {
  PLUGIN_BYTES_MAX,
  PLUGIN_DEPTH_MAX,
  PLUGIN_S,
  PLUGIN_VALUES_MAX,
  PLUGINS_MAX,
} from '../model/limits/collectors'
import type { Watched } from './monitor'
import { type Address, readSocket } from './plugin-socket'
import { CollectorFailure } from './report'

export interface PluginOptions extends Pick<Machine, 'files' | 'run'> {
  readonly folder: string
  readonly clock: Clock
  /** The user, besides root, that may own plugins: the one that runs this daemon. */
  readonly uid: number
}

/** The version of plugins in reports. */
const VERSION = 'P'

/** The current plugins of the folder. Known ones stay the same objects. */
export class Plugins {
  private known = new Map<string, Watched>()

  constructor(private readonly options: PluginOptions) {}

  /** `taken`: the names of built-in collectors. */
  async find(taken: readonly string[]): Promise<readonly Watched[]> {
    const files = (await this.names()).filter((file) => nameOf(file) !== undefined).slice(0, PLUGINS_MAX)
    const used = new Set(taken)
    const found = files.map((file) => {
      const { name, category } = nameOf(file) ?? { name: file, category: null }
      const refused = used.has(name)
      used.add(name)
      // Gets a different name, so that it is visible, but not confused with the other.
      const own = refused ? file.replaceAll('.', '-') + '-plugin' : name
      const before = this.known.get(file)
      return [file, before?.name === own ? before : this.plugin(file, { name: own, category }, refused)] as const
    })
    this.known = new Map(found)
    return [...this.known.values()]
  }

  private async names(): Promise<readonly string[]> {
    try {
      return (await this.options.files.readdir(this.options.folder)).sort()
    } catch (error) {
      if (isMissing(error)) return []
      throw error
    }
  }

  private plugin(file: string, named: PluginName, refused: boolean): Watched {
    const failure = new CollectorFailure(`another collector has the name of ${file}: call it otherwise`)
    return {
      ...{ ...named, kind: 'performance', version: VERSION, interval_s: 10, cost_ms: 50 },
      open: () => ({ collect: () => (refused ? Promise.reject(failure) : collect(this.options, file)) }),
    }
  }
}

interface PluginName {
  readonly name: string
  readonly category: (typeof REPORT_CATEGORIES)[number] | null
}

/** `storage.raid.json` is `raid` of the category `storage`. Skips hidden files and leftovers of editors. */
function nameOf(file: string): PluginName | undefined {
  const [first = '', ...rest] = file.split('.')
  const category = REPORT_CATEGORIES.find((one) => one === first) ?? null
  const name = category === null || rest.length === 0 ? first : (rest[0] ?? '')
  return /^\w[\w-]{0,63}$/.test(name) && !file.endsWith('~') ? { name, category } : undefined
}

/** Checks it each time, since it may have changed. */
async function collect(options: PluginOptions, file: string): Promise<unknown> {
  const { files, folder, uid } = options
  const whole = path.join(folder, file)
  const place = await files.lstat(folder)
  refuse(folder, place, uid)
  const info = await files.lstat(whole)
  refuse(whole, info, uid)
  if (info.isSocket()) return dataOf(await readSocket({ path: whole }, options.clock))
  if (!info.isFile()) throw new CollectorFailure(`${whole} is neither a file nor a socket`)
  if ((info.mode & 0o111) !== 0) return dataOf(await outputOf(options, whole))
  const text = await readPlainFile(files, whole, PLUGIN_BYTES_MAX)
  if (file.endsWith('.tcp')) return dataOf(await readSocket(addressIn(text), options.clock))
  return file.endsWith('.json') ? jsonOf(text) : dataOf(text)
}

interface Owned {
  readonly uid: number
  readonly mode: number
  isSocket(): boolean
  isSymbolicLink(): boolean
}

/** Writing to a socket only sends it a question. Writing to a file or folder decides what is reported or run. */
function refuse(file: string, info: Owned, uid: number): void {
  if (info.isSymbolicLink())
    throw new CollectorFailure(`${file} is a link, which may lead anywhere: put the file there`)
  if (info.uid !== 0 && info.uid !== uid) throw new CollectorFailure(`${file} belongs to another user: give it to root`)
  if ((info.mode & 0o022) !== 0 && !info.isSocket())
    throw new CollectorFailure(`${file} can be written by others than its owner: take that away with chmod go-w`)
}

async function outputOf({ run }: PluginOptions, program: string): Promise<string> {
  const bounds = { cwd: '/', timeout_s: PLUGIN_S, maxOutput: PLUGIN_BYTES_MAX, printed_max: PLUGIN_BYTES_MAX }
  const { code, stdout, stderr, timedOut, printedTooMuch } = await runBounded(run, [program], bounds)
  if (printedTooMuch) throw new CollectorFailure(`it printed more than ${PLUGIN_BYTES_MAX} bytes`)
  if (timedOut) throw new CollectorFailure(`it did not end within ${PLUGIN_S} s`)
  if (code === 0) return stdout
  throw new CollectorFailure(`it ended with ${code ?? 'a signal'}: ${stderr.trim().slice(0, 200)}`)
}

/** Other machines are never asked. */
function addressIn(text: string): Address {
  const [, host = '', port = ''] = /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost):(\d{1,5})\s*$/.exec(text) ?? []
  if (host === '') throw new CollectorFailure('it does not name an address of this machine, such as 127.0.0.1:9000')
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
}

/** JSON if possible, otherwise the text. */
function dataOf(text: string): unknown {
  return /^\s*[{[]/.test(text) ? jsonOf(text) : { text: text.trimEnd() }
}

function jsonOf(text: string): unknown {
  if (hasMoreValues(text, PLUGIN_VALUES_MAX))
    throw new CollectorFailure(`its JSON has more than ${PLUGIN_VALUES_MAX} values`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new CollectorFailure(`it is no JSON: ${errorText(error)}`)
  }
  if (isDeeper(value, PLUGIN_DEPTH_MAX))
    throw new CollectorFailure(`its JSON is nested deeper than ${PLUGIN_DEPTH_MAX} levels`)
  return value
}
