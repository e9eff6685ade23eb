// Reads the reports of a node's collectors. They come from a remote machine, so every value is checked.
export interface Told {
  readonly name: string
  readonly kind: number
  readonly data?: unknown
}

type Dict = Readonly<Record<string, unknown>>

const isDict = (value: unknown): value is Dict => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The status in a report; undefined for a report that only has figures. */
export function statusOf({ kind, data }: Told): { code: number; message: string } | undefined {
  if (!isDict(data)) return undefined
  if (typeof data['error'] === 'string') return { code: 4, message: data['error'] }
  const status = data['status']
  if (kind !== 1 || !isDict(status)) return undefined
  return { code: Number(status['code'] ?? 2), message: inOneLine(textOf(status['message'])) }
}

/** A collector's message has a line for each thing that it complains about, and empty ones. */
const inOneLine = (message: string): string =>
  message
    .split('\n')
    .filter((line) => line.trim() !== '')
    .join('; ')

export interface Interface {
  readonly name: string
  readonly state: string
  readonly address: string
  readonly mtu: number
  readonly speed_mbit: number | null
}

export function interfacesOf(reports: readonly Told[]): Interface[] {
  const { data } = reports.find(({ name }) => name === 'system') ?? {}
  const list: unknown = isDict(data) ? data['interfaces'] : undefined
  if (!Array.isArray(list)) return []
  return list.filter(isDict).map((one) => ({
    ...{ name: textOf(one['name']), state: textOf(one['state']), address: textOf(one['address']) },
    mtu: Number(one['mtu'] ?? 0),
    speed_mbit: typeof one['speed_mbit'] === 'number' ? one['speed_mbit'] : null,
  }))
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
