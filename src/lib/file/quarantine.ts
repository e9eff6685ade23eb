// Keeps replaced files for a person to look at: the newest few of each.
import * as path from 'node:path'
import type { Clock } from '../clock'
import type { Disk } from '../disk'

interface QuarantineOptions {
  readonly disk: Disk
  readonly clock: Clock
  /** How many of one file are kept. */
  readonly most: number
}

/** Moves a file to `FILE.WORD-NUMBER`, where the highest number is the newest. Returns the new name. */
export async function quarantine(file: string, word: string, options: QuarantineOptions): Promise<string> {
  const kept = await freePlace(file, word, options)
  await options.disk.rename(file, kept)
  return kept
}

/** Writes a content under such a name, which only its owner may read. If the newest one has this content, that is enough: who tries again must not push out others. */
export async function quarantineCopy(
  file: string,
  word: string,
  content: string | Buffer,
  options: QuarantineOptions,
): Promise<string> {
  const { disk } = options
  const [folder, start] = placeOf(file, word)
  const newest = path.join(folder, `${start}${numbered(await disk.list(folder), start).at(-1)}`)
  if ((await disk.read(newest))?.equals(Buffer.from(content))) return newest
  const kept = await freePlace(file, word, options)
  await disk.write(kept, content, { mode: 0o600 })
  return kept
}

const placeOf = (file: string, word: string): [folder: string, start: string] => [
  path.dirname(file),
  `${path.basename(file)}.${word}-`,
]

async function freePlace(file: string, word: string, { disk, clock, most }: QuarantineOptions): Promise<string> {
  const [folder, start] = placeOf(file, word)
  const numbers = numbered(await disk.list(folder), start)
  for (const number of numbers.slice(0, Math.max(0, numbers.length - most + 1)))
    await disk.remove(path.join(folder, `${start}${number}`)).catch(() => undefined)
  // The number is the time, or more if somebody has set the clock back.
  return `${file}.${word}-${Math.max(Math.floor(clock.now_ms()), (numbers.at(-1) ?? 0) + 1)}`
}

/** The numbers that follow the start of a name, in ascending order. */
export const numbered = (names: readonly string[], start = ''): number[] =>
  names
    .filter((name) => name.startsWith(start) && /^\d{1,15}$/.test(name.slice(start.length)))
    .map((name) => Number(name.slice(start.length)))
    .sort((a, b) => a - b)
