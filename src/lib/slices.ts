// Long lists are worked on in slices, between which the event loop serves others.
import type { Writable } from 'node:stream'
import { breathe } from './clock'
import { roomIn } from './written'

export function* slices<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size)
}

/** A list of no more than one slice is done at once. */
export async function mapInSlices<T, U>(items: readonly T[], size: number, map: (item: T) => U): Promise<U[]> {
  const mapped: U[] = []
  for (const slice of slices(items, size)) {
    if (mapped.length > 0) await breathe()
    for (const item of slice) mapped.push(map(item))
  }
  return mapped
}

export async function filterInSlices<T>(items: readonly T[], size: number, keep: (item: T) => boolean): Promise<T[]> {
  const kept = await mapInSlices(items, size, keep)
  return items.filter((_, at) => kept[at])
}

/** Resolves when the reader has room for more, or has gone, and others have been served. */
export async function writeSlice(stream: Writable, part: string | Buffer): Promise<void> {
  if (!stream.write(part) && !stream.destroyed) await roomIn(stream)
  // A write that the system takes at once makes room again immediately, so others get their turn here.
  await breathe()
}
