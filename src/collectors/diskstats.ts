// Reads the kernel's counters of each block device.
import { type Collector, readSource } from './report'
import { TextCursor } from './text-cursor'

export const diskstats: Collector = {
  ...{ name: 'diskstats', category: 'storage', kind: 'performance' },
  help: 'what the kernel counts of each block device',
  inputs: { file: { short: 'f', help: 'read this file and not the real thing' } },
  open: (sources, { file = '/proc/diskstats' }) => ({
    collect: async () => parseDiskstats(await readSource(sources, file)),
  }),
}

const COLUMNS =
  'major minor name readsNum mergedReads secRead timeRead writes mergedWrites secWritten timeWrite ios timeIO wIOmillis'.split(
    ' ',
  )

/** Newer kernels count more behind these columns; that is left out. */
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
