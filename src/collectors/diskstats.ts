// What the kernel counts of each block device.
import { type NodeSources, type Report, readSource, reportOf } from './report'
import { TextCursor } from './text-cursor'

export const DISKSTATS = { name: 'diskstats', category: 'storage', kind: 'performance' } as const

export const DISKSTATS_FILE = '/proc/diskstats'

const COLUMNS =
  'major minor name readsNum mergedReads secRead timeRead writes mergedWrites secWritten timeWrite ios timeIO wIOmillis'.split(
    ' ',
  )

export const diskstats = (sources: NodeSources, file = DISKSTATS_FILE): Report =>
  reportOf(DISKSTATS, sources.clock, parseDiskstats(readSource(sources, file)))

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
