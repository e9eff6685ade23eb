// Processes long lists in slices, between which the event loop serves others.
import type { Writable } from 'node:stream'
import { breathe } from '../clock'
import { roomIn } from './written'

export function* slices<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size)
}

/** A list of one slice is processed at once. */
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

/** Resolves when others have been served and the reader has room for more, or has gone. */
export async function writeSlice(stream: Writable, part: string | Buffer): Promise<void> {
  if (!stream.write(part) && !stream.destroyed) await roomIn(stream)
  // If the kernel takes a write at once, there is room immediately, so we let others have their turn here.
  await breathe()
}
