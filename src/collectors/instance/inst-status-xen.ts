// Whether the node's Xen instances have their wanted state, in Ganeti's format.
import { errorText } from '../../lib/system-failure'
import { nodeInstances } from '../configuration'
import { type Collector, type NodeSources, summary } from '../report'
import { reasonTrail } from './reasons'
import { INSTANCE_CODES, INSTANCE_DATA, domainState, judge } from './states'
import { type SeenDomain, domainUptimes, listDomains } from './xen-domains'

export const instStatusXen: Collector = {
  ...{ name: 'inst-status-xen', category: 'instance', kind: 'status' },
  help: 'whether the instances of Xen are as they should be',
  asksConfd: true,
  ...{ shape: INSTANCE_DATA, codes: INSTANCE_CODES, interval_s: 5, cost_ms: 500 },
  open: (sources) => ({ collect: () => collect(sources) }),
}

async function collect(sources: NodeSources): Promise<unknown> {
  const { primary } = await nodeInstances(sources)
  let domains: ReadonlyMap<string, SeenDomain>
  try {
    domains = await listDomains(sources)
  } catch (error) {
    const text = errorText(error)
    return { instances: [], status: { code: 4, message: `Unable to receive the list of instances: ${text}` } }
  }
  const uptimes = await domainUptimes(sources)
  const trails = await Promise.all(primary.map(({ name }) => reasonTrail(sources, String(name))))
  const instances = primary.map(({ name, uuid, admin_state, mtime }, at) => {
    const domain = domains.get(String(name))
    const actualState = domainState(String(admin_state), domain)
    return {
      ...{ name, uuid, adminState: admin_state, actualState },
      ...{ uptime: (domain && uptimes.get(domain.id)) ?? null, mtime },
      state_reason: trails[at],
      status: judge(String(admin_state), actualState),
    }
  })
  return { instances, status: summary(instances.map(({ status }) => status)) }
}
