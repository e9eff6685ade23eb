// The Xen domains of this node, from two looks.
import type { NodeSources } from '../report'
import { type XenDomain, parseDomains, parseUptimes } from './xen-text'

export type SeenDomain = XenDomain & { readonly hung: boolean }

/** Looks twice: a domain that used no CPU time in between hangs. Skips a domain that disappeared meanwhile. */
export async function listDomains(sources: NodeSources): Promise<ReadonlyMap<string, SeenDomain>> {
  const ask = async () => parseDomains(await sources.run(['xl', 'list', '--long']))
  const [first, second] = [await ask(), await ask()]
  const later = new Map(second.map((domain) => [domain.name, domain.cpuTime]))
  return new Map(
    first.map((domain) => {
      const after = later.get(domain.name)
      const state = after === undefined ? 'unknown' : domain.state
      return [domain.name, { ...domain, state, hung: after === domain.cpuTime }]
    }),
  )
}

/** The uptime of each domain, by its id. */
export const domainUptimes = async (sources: NodeSources): Promise<ReadonlyMap<number, string>> =>
  parseUptimes(await sources.run(['xl', 'uptime']))
