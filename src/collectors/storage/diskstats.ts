// Reads the kernel's counters of each block device.
import { type Collector, type NodeSources, readIfThere, readSource } from '../report'
import { int, list, record, text } from '../shapes'
import { TextCursor } from '../text-cursor'

export const diskstats: Collector = {
  ...{ name: 'diskstats', category: 'storage', kind: 'performance' },
  help: 'what the kernel counts of each block device',
  inputs: { file: { short: 'f', help: 'read this file and not the real thing' } },
  ...{ interval_s: 5, cost_ms: 1 },
  get shape() {
    return list(record(Object.fromEntries(COLUMNS.map((column) => [column, column === 'name' ? text : int]))))
  },
  open: (sources, { file }) => ({
    // A node without block devices, such as a container, has nothing to report.
    collect: async () => parseDiskstats(await (file === undefined ? kernelsFile(sources) : readSource(sources, file))),
  }),
}

const kernelsFile = async (sources: NodeSources): Promise<string> =>
  (await readIfThere(sources, '/proc/diskstats')) ?? ''

const COLUMNS =
  'major minor name readsNum mergedReads secRead timeRead writes mergedWrites secWritten timeWrite ios timeIO wIOmillis'.split(
    ' ',
  )

/** Newer kernels have more columns after these, which are ignored. */
export function parseDiskstats(text: string): Readonly<Record<string, string | number>>[] {
  const cursor = new TextCursor(text)
  const rows: Record<string, string | number>[] = []
  while (!cursor.ended) {
    rows.push(Object.fromEntries(COLUMNS.map((column) => [column, valueOf(column, cursor.skipBlanks())])))
    while (/^[ \t]*\d/.test(cursor.line)) cursor.skipBlanks().decimal()
    cursor.endOfLine()
  }
  return rows
}

const valueOf = (column: string, cursor: TextCursor): string | number =>
  column === 'name' ? cursor.until(/[ \t]/) : cursor.decimal()
