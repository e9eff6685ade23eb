// A network's addresses: their use, their owners, and the ranges in which they are shown.

export type AddressKind = 'free' | 'instance' | 'external' | 'gateway' | 'network' | 'broadcast' | 'reserved'

export interface Address {
  readonly at: number
  readonly text: string
  readonly kind: AddressKind
  /** The instance with this address. */
  readonly owner?: string
}

export interface AddressSource {
  /** `10.0.0.0/16` */
  readonly network: string | null | undefined
  /** One sign for each address: `.` is free. */
  readonly map: string | null | undefined
  readonly gateway: string | null | undefined
  /** Addresses, separated by commas. */
  readonly external: string | null | undefined
  /** Instances by address. */
  readonly owners: ReadonlyMap<string, string>
}

export class Addresses {
  private readonly base: number
  private readonly map: string
  private readonly external: ReadonlySet<string>

  constructor(private readonly source: AddressSource) {
    const [address = '', length = '32'] = (source.network ?? '').split('/')
    const bits = Number(length)
    this.base = bits === 0 ? 0 : (numberOf(address) & (-1 << (32 - bits))) >>> 0
    this.map = source.map ?? ''
    this.external = new Set((source.external ?? '').split(',').map((one) => one.trim()))
  }

  get count(): number {
    return this.map.length
  }

  at(index: number): Address {
    const text = textOf(this.base + index)
    const owner = this.source.owners.get(text)
    if (owner !== undefined) return { at: index, text, kind: 'instance', owner }
    if (text === this.source.gateway) return { at: index, text, kind: 'gateway' }
    if (this.map[index] === '.') return { at: index, text, kind: 'free' }
    // Every network reserves its first and its last address. A network of four addresses is the smallest one.
    if (index === 0) return { at: index, text, kind: 'network' }
    if (index === this.count - 1) return { at: index, text, kind: 'broadcast' }
    return { at: index, text, kind: this.external.has(text) ? 'external' : 'reserved' }
  }

  /** How many addresses of a range are in use. */
  used(from: number, to: number): number {
    let used = 0
    for (let index = from; index < to; index++) if (this.map[index] !== '.') used++
    return used
  }

  /** The used indexes within a range, up to a limit. */
  usedOf(from: number, to: number, most: number): Address[] {
    const found: Address[] = []
    for (let index = from; index < to && found.length < most; index++)
      if (this.map[index] !== '.') found.push(this.at(index))
    return found
  }
}

export interface Range {
  readonly from: number
  /** The index after the last one. */
  readonly to: number
}

/** As many ranges of equal size as fit on the screen; ranges of one address if there are few. */
export function rangesOf({ from, to }: Range, most: number): Range[] {
  let step = 1
  while ((to - from) / step > most) step *= 2
  const ranges: Range[] = []
  for (let start = from; start < to; start += step) ranges.push({ from: start, to: Math.min(start + step, to) })
  return ranges
}

function numberOf(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
}

export const textOf = (value: number): string =>
  [24, 16, 8, 0].map((shift) => String(Math.floor(value / 2 ** shift) % 256)).join('.')

/** The manually reserved addresses, without the first one, the last one and the gateway, which every network reserves. */
export function reservedByHand(source: AddressSource): string[] {
  const addresses = new Addresses(source)
  const own = [...[0, addresses.count - 1].map((index) => addresses.at(index).text), source.gateway]
  const all = (source.external ?? '').split(',').map((one) => one.trim())
  return all.filter((one) => one !== '' && !own.includes(one))
}

/** From `[address, instance]`. */
export const ownersOf = (reported: readonly (readonly string[])[] | null | undefined): Map<string, string> =>
  new Map((reported ?? []).flatMap(([address, name]) => (address && name ? [[address, name] as const] : [])))
