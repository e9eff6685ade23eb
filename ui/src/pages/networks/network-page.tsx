// One network: its addresses, and the groups that can use it.
import { queryOptions, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { api, got } from '../../api/client'
import { ActionAt, Actions } from '../../parts/action'
import { useGone } from '../../parts/gone'
import { NameLinks, ObjectLink } from '../../parts/names'
import { Card, Facts, Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { Rows } from '../../parts/rows'
import { TagsCard } from '../../parts/tags'
import { texts } from '../../texts'
import { RecentJobs } from '../jobs/recent-jobs'
import { DISCONNECT, type Network, NETWORK_ACTIONS, networkPath } from './actions'
import { AddressMap, sourceOf } from './address-map'
import { reservedByHand } from './addresses'

const own = texts.networks
const route = getRouteApi('/networks/$name')

const networkQuery = (name: string) =>
  queryOptions({
    queryKey: ['networks', 'one', name],
    queryFn: async (): Promise<Network> => ({
      ...(await got(api.GET('/3/networks/{name}', { params: { path: { name } } }))),
      name,
    }),
  })

export function NetworkPage() {
  const { name } = route.useParams()
  const { data: network, error, refetch } = useQuery(networkQuery(name))
  const gone = useGone({ resource: 'networks', name, object: network, error })
  return (
    <Page title={name} actions={!gone && network && <Actions subject={network} actions={NETWORK_ACTIONS} shown={2} />}>
      {!gone && <ProblemBox error={error} retry={() => void refetch()} />}
      {!gone && network && <Cards network={network} />}
    </Page>
  )
}

function Cards({ network }: { network: Network }) {
  const { name } = network
  const { facts } = own
  return (
    <>
      <div className="cards">
        <Card title={own.general}>
          <Facts
            facts={[
              [own.columns.network, network.network],
              [own.columns.gateway, network.gateway],
              [facts.network6, network.network6],
              [facts.gateway6, network.gateway6],
              [facts.macPrefix, network.mac_prefix],
              [facts.external, reservedByHand(sourceOf(network)).join(', ')],
              [own.map.title, facts.usage(network.reserved_count ?? 0, network.free_count ?? 0)],
            ]}
          />
        </Card>
        <Card title={own.groups}>
          <Rows
            label={own.groups}
            head={own.groupColumns}
            none={own.noGroups}
            keys={(network.group_list ?? []).map(([group = '']) => group)}
            rows={(network.group_list ?? []).map(([group = '', mode, link, vlan]) => [
              <ObjectLink key="group" kind="group" name={group} />,
              mode,
              link,
              vlan,
              <ActionAt key="disconnect" subject={{ network: name, group }} action={DISCONNECT} />,
            ])}
          />
        </Card>
        <Card title={own.instances}>
          <NameLinks kind="instance" names={network.inst_list} none={own.noInstances} />
        </Card>
        <TagsCard kind="network" path={networkPath(network)} name={name} tags={network.tags} />
        <Card title={texts.instances.recentJobs}>
          <RecentJobs about={`network/${name}`} />
        </Card>
      </div>
      <AddressMap network={network} />
    </>
  )
}
