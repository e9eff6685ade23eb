// Translates errors of the system into words that tell an administrator which thing is full, broken or used up. Only
// this file translates the system's error names; code that shows errors uses it.
import * as fs from 'node:fs'
import { errorCode } from './disk'
import { type Place, placeOf } from './file/mounts'
import { UnsettledAppend } from './file/unsettled-append'

/** The text of any error. */
export const errorText = (error: unknown): string =>
  systemFailure(error) ?? (error instanceof Error ? error.message : String(error))

/** Undefined if the system did not cause the error. */
export function systemFailure(thrown: unknown): string | undefined {
  // An append that could not be taken back names what made it fail.
  const error = thrown instanceof UnsettledAppend ? thrown.cause : thrown
  const code = errorCode(error) ?? ''
  const ofPort = portFailure(error, code)
  if (ofPort !== undefined) return ofPort
  const explain = FAILURES.get(code)
  const where = new Where(textAt(error, 'path'), textAt(error, 'syscall') ?? '')
  // Terminals and pipes use these two codes for other reasons.
  if ((code === 'EAGAIN' && !where.starts) || (code === 'EIO' && where.file === undefined)) return undefined
  return explain && `${explain(where)} (${code})`
}

/** Whether such a text, possibly from another daemon, says that there is no room. */
export const saysFull = (text: string): boolean => /\((ENOSPC|EDQUOT)\)$/.test(text)

class Where {
  constructor(
    readonly file: string | undefined,
    private readonly syscall: string,
  ) {}

  /** Names the file that could not be started, read or written. */
  get object(): string {
    if (this.file === undefined) return ''
    return this.starts
      ? `: ${this.file} cannot be started`
      : `: ${this.file} cannot be ${this.reads ? 'read' : 'written'}`
  }

  get starts(): boolean {
    return this.syscall.startsWith('spawn')
  }

  private get place(): Place | undefined {
    const { file } = this
    return file === undefined ? undefined : attempt(() => placeOf(file))
  }

  private get reads(): boolean {
    return this.syscall === 'read' || this.syscall === 'scandir'
  }

  get fileSystem(): string {
    const mount = this.place?.mountPoint
    return mount === undefined ? 'its file system' : `the file system mounted on ${mount}`
  }

  get room(): string {
    const existing = this.place?.existing
    const stat = existing === undefined ? undefined : attempt(() => fs.statfsSync(existing))
    if (stat === undefined) return ''
    if (stat.files > 0 && stat.ffree === 0) return ', which has no inodes left for more files'
    return ` (${mib(stat.bavail * stat.bsize)} of ${mib(stat.blocks * stat.bsize)} MiB are free)`
  }
}

/** Why a port cannot be had, and the way to have it; undefined for a socket that has a path. */
function portFailure(error: unknown, code: string): string | undefined {
  const port: unknown = Reflect.get(Object(error), 'port')
  if (!['listen', 'bind'].includes(textAt(error, 'syscall') ?? '') || typeof port !== 'number' || port <= 0)
    return undefined
  const name = `Port ${port} of ${textAt(error, 'address') ?? 'this machine'}`
  if (code === 'EADDRINUSE') return `${name} is taken by another process; stop that ("ss -lntup" shows it) (${code})`
  if (code !== 'EACCES') return undefined
  const ways = `run "sysctl net.ipv4.ip_unprivileged_port_start=${port}", or "setcap cap_net_bind_service=+ep ${process.execPath}", as root`
  return `${name} is only for root; to have it, ${ways} (${code})`
}

const FAILURES: ReadonlyMap<string, (where: Where) => string> = new Map([
  ['ENOSPC', (where) => `The disk is full${where.object}; free some room on ${where.fileSystem}${where.room}`],
  ['EDQUOT', (where) => `The disk quota is used up${where.object}; raise it, or free some room on ${where.fileSystem}`],
  [
    'EROFS',
    (where) => `The disk is read-only${where.object}; see the kernel's log why, and make ${where.fileSystem} writable`,
  ],
  ['EIO', (where) => `The disk fails${where.object}; see the kernel's log about ${where.fileSystem}`],
  ['EMFILE', (where) => `Too many open files${where.object}; ${limitText(LIMIT.files)}`],
  ['ENFILE', (where) => `Too many open files on this machine${where.object}; raise the kernel's fs.file-max`],
  ['EAGAIN', (where) => `Too many processes${where.object}; ${limitText(LIMIT.processes)}`],
  ['ENOMEM', (where) => `Not enough memory${where.object}; free some on this machine`],
])

/** A limit of processes, by its name in /proc. */
export interface Limit {
  readonly name: string
  readonly what: string
  /** How to set it in a shell and in a unit of systemd. */
  readonly command: string
  readonly setting: string
}

export const LIMIT = {
  files: { name: 'Max open files', what: 'open files', command: 'ulimit -n', setting: 'LimitNOFILE' },
  processes: { name: 'Max processes', what: 'processes', command: 'ulimit -u', setting: 'LimitNPROC' },
} as const satisfies Record<string, Limit>

function limitText(limit: Limit): string {
  const has = processLimit(limit)
  const said = has === undefined ? 'this process has reached its limit' : `this process may have ${has} ${limit.what}`
  return `${said}: raise that where it is started (${limit.command}, or ${limit.setting} of its unit)`
}

/** A limit of this process; undefined if the kernel does not tell it, for example because no file can be opened. */
export function processLimit({ name }: Limit): number | undefined {
  const lines = attempt(() => fs.readFileSync('/proc/self/limits', 'utf8'))?.split('\n')
  const soft = lines
    ?.find((line) => line.startsWith(name))
    ?.slice(name.length)
    .trim()
    .split(/\s+/)[0]
  if (soft === undefined) return undefined
  return soft === 'unlimited' ? Infinity : Number(soft)
}

const mib = (bytes: number): number => Math.floor(bytes / 2 ** 20)

function attempt<T>(action: () => T): T | undefined {
  try {
    return action()
  } catch {
    return undefined
  }
}

function textAt(error: unknown, key: string): string | undefined {
  const value: unknown = Reflect.get(Object(error), key)
  return typeof value === 'string' ? value : undefined
}
