// Facts about a process, from the kernel.
import { type NodeSources, readIfThere } from './report'

export interface ProcessFacts {
  readonly pid: number
  readonly cpu_s: number
  readonly threads: number
  /** Seconds after the node's own start. */
  readonly started_s: number
  /** Its resident memory in pages. */
  readonly rss_pages: number
}

/** Clock ticks per second, the same on every machine. */
export const TICKS_PER_S = 100

/** Undefined if there is no such process. */
export async function processFacts(sources: NodeSources, pid: number): Promise<ProcessFacts | undefined> {
  const text = await readIfThere(sources, `/proc/${pid}/stat`).catch(() => undefined)
  // The name, in parentheses, may contain any characters.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ')
  if (fields === undefined) return undefined
  // Field numbers of proc(5); the first field after the name is number 3.
  const field = (number: number) => Number(fields[number - 3])
  return {
    pid,
    cpu_s: (field(14) + field(15)) / TICKS_PER_S,
    threads: field(20),
    started_s: field(22) / TICKS_PER_S,
    rss_pages: field(24),
  }
}

export async function nodeUptime(sources: NodeSources): Promise<number> {
  return Number((await sources.read('/proc/uptime')).split(' ')[0])
}

/** For how many seconds a process has been running. */
export const uptimeOf = async (sources: NodeSources, { started_s }: ProcessFacts): Promise<number> =>
  Math.max(0, (await nodeUptime(sources)) - started_s)
