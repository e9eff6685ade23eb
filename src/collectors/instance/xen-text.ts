// Parses the output of Xen's `xl` about its domains.

export interface XenDomain {
  readonly id: number
  readonly name: string
  readonly cpuTime: number
  readonly state: string
}

/** The output of `xl list --long`: nested lists in parentheses, of which we need a few entries. */
export function parseDomains(text: string): XenDomain[] {
  const tokens = text.match(/[()]|[^\s()]+/g) ?? []
  const domains: XenDomain[] = []
  let depth = 0
  let facts = new Map<string, string>()
  tokens.forEach((token, at) => {
    if (token === '(') {
      depth++
      if (depth === 1) facts = new Map()
      // An entry of the domain itself: `(name value)`.
      const [key, value] = [tokens[at + 1] ?? '', tokens[at + 2] ?? '']
      if (depth === 2 && tokens[at + 3] === ')' && !facts.has(key)) facts.set(key, value)
    } else if (token === ')') {
      depth--
      if (depth === 0) domains.push(domainOf(facts))
    }
  })
  if (depth !== 0) throw new Error('the output of xl list ends in the middle of a domain')
  return domains
}

function domainOf(facts: ReadonlyMap<string, string>): XenDomain {
  const [id, name, cpuTime, state] = ['domid', 'name', 'cpu_time', 'state'].map((key) => facts.get(key))
  if (id === undefined || name === undefined || cpuTime === undefined || state === undefined) {
    throw new Error(`xl list tells of a domain without domid, name, cpu_time or state: ${name ?? id ?? 'no name'}`)
  }
  return { id: Number(id), name, cpuTime: Number(cpuTime), state: STATES[state] ?? 'unknown' }
}

const STATES: Readonly<Record<string, string>> = {
  'r-----': 'running',
  '-b----': 'blocked',
  '--p---': 'paused',
  '---s--': 'shutdown',
  '----c-': 'crashed',
  '-----d': 'dying',
}

/** The output of `xl uptime`: the uptime of each domain, by its id. */
export function parseUptimes(text: string): Map<number, string> {
  const lines = text.split('\n').slice(1)
  return new Map(
    lines.flatMap((line) => {
      const [, id, uptime] = /^\S+\s+(\d+)\s+(.*?)\s*$/.exec(line) ?? []
      return id === undefined || uptime === undefined ? [] : [[Number(id), uptime] as const]
    }),
  )
}
