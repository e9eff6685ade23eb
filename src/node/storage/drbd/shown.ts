// The configuration of all DRBD devices, as `drbdsetup show` prints it.
import { fail } from '../../failure'

export interface Shown {
  readonly resource: string
  /** The paths of the devices that hold the data and the notes. */
  readonly disk?: string
  readonly meta?: string
  /** For example `ipv4:198.51.100.21:11000`. Missing if the device has no connection. */
  readonly local?: string
  readonly remote?: string
}

/** Keyed by minor. */
export function parseShown(text: string): ReadonlyMap<number, Shown> {
  const words = text.replaceAll(/#.*$/gm, '').match(/"[^"]*"|[{};]|[^\s{};"]+/g) ?? []
  const displayed = new Map<number, Shown>()
  const sections: string[] = []
  let statement: string[] = []
  let resource: Omit<Shown, 'resource'> & { resource?: string; minor?: number } = {}
  for (const word of words) {
    if (word === '{') {
      if (statement[0] === 'resource') resource = { resource: statement[1] ?? '' }
      sections.push(statement[0] ?? '')
      statement = []
    } else if (word === '}') {
      if (sections.pop() === 'resource') note(displayed, resource)
      statement = []
    } else if (word === ';') {
      resource = { ...resource, ...factOf(sections, statement) }
      statement = []
    } else statement.push(word.replaceAll('"', ''))
  }
  if (sections.length > 0) fail('drbdsetup show printed a text that ends too early')
  return displayed
}

function note(
  displayed: Map<number, Shown>,
  { minor, resource = '', ...facts }: Partial<Shown> & { minor?: number },
): void {
  if (minor !== undefined) displayed.set(minor, { resource, ...facts })
}

function factOf(sections: readonly string[], [name, ...values]: readonly string[]) {
  const [, side, volume, deeper] = sections
  if (name === 'address') {
    if (side === '_remote_host') return { remote: values.join(':') }
    return side === '_this_host' ? { local: values.join(':') } : {}
  }
  if (side !== '_this_host' || volume !== 'volume' || deeper !== undefined) return {}
  if (name === 'device' && values[0] === 'minor') return { minor: Number(values[1]) }
  if (name === 'disk') return { disk: values[0] ?? '' }
  return name === 'meta-disk' ? { meta: values[0] ?? '' } : {}
}
