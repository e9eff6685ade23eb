// Copies the blocks that the other side lacks, in their order, while the disk is being written to.
import type { Clock } from '../../lib/clock'
import { MIRROR_BATCH_BYTES } from '../../model/limits/mirror'
import type { Link, Progress } from './link'
import { type LocalCopy, isZero } from './local'
import { BLOCK } from './blocks'
import type { Ranges } from './ranges'

export interface Copying {
  readonly clock: Clock
  readonly link: Link
  readonly copy: LocalCopy
  readonly ranges: Ranges
  readonly rate_kib: number
  /** False if the copying must stop. */
  isCurrent(): boolean
  isPaused(): boolean
  tell(progress: Progress): void
}

const TELL_MS = 200
const PAUSE_MS = 100

/** Returns whether everything was copied. */
export async function copyMarked(input: Copying): Promise<boolean> {
  const { clock, link, copy } = input
  const [begun_ms, total] = [clock.monotonic_ms(), copy.marks.count]
  let told_ms = begun_ms
  const blocks = Math.ceil(copy.notes.size_bytes / BLOCK)
  for (let block = 0; block < blocks && input.isCurrent();) {
    if (input.isPaused()) {
      await clock.sleep(PAUSE_MS)
      continue
    }
    const count = marked(copy, block, blocks)
    if (count > 0) await pace(input, await copyBlocks(input, block, count))
    block += Math.max(1, count)
    const now_ms = clock.monotonic_ms()
    if (now_ms - told_ms < TELL_MS) continue
    told_ms = now_ms
    const progress = progressOf(total, copy.marks.count, now_ms - begun_ms)
    input.tell(progress)
    await link.ask({ verb: 'progress', progress })
  }
  // Marks beyond the end are left from a time when the disk was larger.
  for (let block = blocks; copy.marks.count > 0 && block < blocks + 8; block++) copy.marks.drop(block)
  return input.isCurrent()
}

/** Returns the number of marked blocks from `first` on that can be copied in one go. */
function marked({ marks }: LocalCopy, first: number, blocks: number): number {
  let end = first
  while (end < blocks && (end - first) * BLOCK < MIRROR_BATCH_BYTES && marks.has(end)) end++
  return end - first
}

/** Nothing is written to these blocks meanwhile. Returns the number of bytes that were sent. */
async function copyBlocks(input: Copying, first: number, count: number): Promise<number> {
  const { copy, link, ranges } = input
  const offset = first * BLOCK
  const end = Math.min(offset + count * BLOCK, copy.notes.size_bytes)
  return ranges.within(offset, end, async () => {
    // The other side may have let its copy go meanwhile.
    if (!input.isCurrent()) return 0
    const bytes = await copy.read(offset, end - offset)
    const empty = isZero(bytes)
    if (empty) await link.ask({ verb: 'zero', offset, length: bytes.length })
    else await link.ask({ verb: 'write', offset }, bytes)
    for (let block = first; block < first + count; block++) copy.marks.drop(block)
    return empty ? 0 : bytes.length
  })
}

const pace = async ({ clock, rate_kib }: Copying, bytes: number): Promise<void> => {
  if (rate_kib > 0 && bytes > 0) await clock.sleep((bytes / 1024 / rate_kib) * 1000)
}

function progressOf(total: number, left: number, took_ms: number): Progress {
  const done = total - left
  const estimated_time = done > 0 ? Math.ceil(((took_ms / done) * left) / 1000) : 0
  return { sync_percent: Math.round((done / Math.max(1, total)) * 1000) / 10, estimated_time }
}
