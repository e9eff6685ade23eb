// What the kernel counts of each block device.
import { CollectorFailure, type NodeSources, type Report, readSource, reportOf } from './report'

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
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return lines.map((line) => {
    const words = line.trim().split(/\s+/)
    const row = COLUMNS.map(
      (column, at) => [column, column === 'name' ? (words[at] ?? '') : Number(words[at])] as const,
    )
    if (row.some(([, value]) => Number.isNaN(value))) throw new CollectorFailure(`not a line of diskstats: "${line}"`)
    return Object.fromEntries(row)
  })
}
