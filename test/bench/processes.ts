// The memory of a process and all that it started, from /proc.
import * as fs from 'node:fs'
import type { Report } from './table'

/** A node whose daemons are asked, of us or of Ganeti. */
export interface AskedNode {
  readonly name: string
  readonly address: string
  /** The file with the key of its confd. */
  readonly keyFile: string
  /** The parent of all of its processes. */
  readonly parent: number
}

export function reportMemoryOf(role: string, { parent, name }: AskedNode, when: string, report: Report): void {
  const all = memoryBelow(parent).filter((one) => one.name === role)
  const found = all.find(({ node }) => node === name) ?? all[0]
  report(`${role} ${when}, RSS`, found?.rss_kib ?? Number.NaN, 'KiB')
  report(`${role} ${when}, PSS`, found?.pss_kib ?? Number.NaN, 'KiB')
}

export interface ProcessMemory {
  readonly pid: number
  readonly name: string
  /** Where it runs, if its command line says so: several nodes may share this machine. */
  readonly node: string | undefined
  /** Pages that are shared count in part, so that the sum over processes is true. */
  readonly pss_kib: number
  readonly rss_kib: number
}

export function memoryBelow(root: number): ProcessMemory[] {
  return processesBelow(root).flatMap(({ pid, name, node }) => {
    try {
      const rollup = fs.readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
      const value = (key: string) => Number(new RegExp(`^${key}: +(\\d+) kB`, 'm').exec(rollup)?.[1])
      return [{ pid, name, node, pss_kib: value('Pss'), rss_kib: value('Rss') }]
    } catch {
      // It has ended, or it is not ours to look at.
      return []
    }
  })
}

const TICK_MS = 10

/** Milliseconds of processor time that all of them have used until now, with those that have ended; only of `program` if one is named. */
export function cpuBelow(root: number, program?: string): number {
  const ticksOf = (pid: number) => {
    const fields = statOf(pid)?.slice(11, 15) ?? []
    return fields.reduce((sum, ticks) => sum + Number(ticks), 0)
  }
  const desired = (pid: number) => program === undefined || commandLineOf(pid).startsWith(program)
  return descendants(root).reduce((sum, pid) => (desired(pid) ? sum + ticksOf(pid) : sum), 0) * TICK_MS
}

/** Empty when the process has ended. */
function commandLineOf(pid: number): string {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/** Daemons and jobs, by what they are. */
export function processesBelow(root: number): Pick<ProcessMemory, 'pid' | 'name' | 'node'>[] {
  return descendants(root).flatMap((pid) => {
    const line = commandLineOf(pid)
    const name = nameOf(line)
    return name === undefined ? [] : [{ pid, name, node: /node\d+\.gantry\.local/.exec(line)?.[0] }]
  })
}

function descendants(root: number): number[] {
  const children = new Map<number, number[]>()
  for (const entry of fs.readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const parent = parentOf(Number(entry))
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(entry)])
  }
  const found = [root]
  // Grows while it is walked.
  for (const pid of found) found.push(...(children.get(pid) ?? []))
  return found
}

function parentOf(pid: number): number | undefined {
  const parent = statOf(pid)?.[1]
  return parent === undefined ? undefined : Number(parent)
}

/** The fields of /proc/PID/stat behind the name, which may hold anything; undefined when the process has ended. */
function statOf(pid: number): string[] | undefined {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

/** The daemon that it is, here or in Ganeti; undefined for what only keeps the nodes up. */
function nameOf(commandLine: string): string | undefined {
  if (/\/job\.js|jqueue\/exec\.py/.test(commandLine)) return 'job process'
  return /ganeti-([a-z]+)/.exec(commandLine)?.[1] ?? (commandLine.includes('main.js embedded') ? 'embedded' : undefined)
}
