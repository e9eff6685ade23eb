// The page of a node group: its nodes, its policies and its capacity.
import { queryOptions, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { api, got } from '../../api/client'
import { useMay } from '../../api/session'
import { Actions } from '../../parts/action'
import { useGone } from '../../parts/gone'
import { PolicyCard } from '../../parts/ipolicy-card'
import { NameLinks } from '../../parts/names'
import { Card, Facts, Page } from '../../parts/page'
import { ParamsCard } from '../../parts/params'
import { ProblemBox } from '../../parts/problem-box'
import { TagsCard } from '../../parts/tags'
import { texts } from '../../texts'
import { RecentJobs } from '../jobs/recent-jobs'
import { GROUP_ACTIONS, groupPath, type NodeGroup } from './actions'
import { CapacityCard } from './capacity-card'

const own = texts.groups
const route = getRouteApi('/groups/$name')

const groupQuery = (name: string) =>
  queryOptions({
    queryKey: ['groups', 'one', name],
    queryFn: async (): Promise<NodeGroup> => ({
      ...(await got(api.GET('/3/groups/{name}', { params: { path: { name } } }))),
      name,
    }),
  })

export function GroupPage() {
  const { name } = route.useParams()
  const { data: group, error, refetch } = useQuery(groupQuery(name))
  const gone = useGone({ resource: 'groups', name, object: group, error })
  return (
    <Page title={name} actions={!gone && group && <Actions subject={group} actions={GROUP_ACTIONS} shown={3} />}>
      {!gone && <ProblemBox error={error} retry={() => void refetch()} />}
      {!gone && group && <Cards group={group} />}
    </Page>
  )
}

function Cards({ group }: { group: NodeGroup }) {
  const may = useMay()
  const { name, alloc_policy: policy = '' } = group
  return (
    <div className="cards">
      <Card title={own.general}>
        <Facts
          facts={[
            [own.columns.policy, `${own.policy[policy ?? ''] ?? policy}. ${own.policyText[policy ?? ''] ?? ''}`],
            [own.columns.nodes, group.node_cnt],
            [own.columns.instances, group.pinst_cnt],
            [
              own.uuid,
              <span key="uuid" className="mono">
                {group.uuid}
              </span>,
            ],
          ]}
        />
      </Card>
      <Card title={own.nodes}>
        <NameLinks kind="node" names={group.node_list} none={own.noNodes} />
      </Card>
      <Card title={own.instances}>
        <NameLinks kind="instance" names={group.pinst_list} none={own.noInstances} />
      </Card>
      {may('cluster.capacity') && <CapacityCard group={name} />}
      <PolicyCard policy={group.ipolicy} />
      <ParamsCard title={own.ndparams} values={group.ndparams} own={group.custom_ndparams} names={own.value} />
      <ParamsCard title={own.diskparams} values={group.diskparams} own={group.custom_diskparams} names={own.value} />
      <TagsCard kind="group" path={groupPath(group)} name={name} tags={group.tags} />
      <Card title={texts.instances.recentJobs}>
        <RecentJobs about={`group/${name}`} />
      </Card>
    </div>
  )
}
