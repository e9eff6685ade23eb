// The page of a node: its role, its resources, its instances and its reports.
import { useQuery, queryOptions } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { api, got } from '../../api/client'
import { useMay, useRefusal } from '../../api/session'
import { Ago } from '../../parts/time'
import { Actions } from '../../parts/action'
import { Usage, usedOf } from '../../parts/bar'
import { allOf } from '../../api/conditions'
import { useGone } from '../../parts/gone'
import { useList } from '../../parts/list-query'
import { NameLinks } from '../../parts/names'
import { yesOrNo } from '../../format/differences'
import { Card, Facts, Page } from '../../parts/page'
import { ParamsCard } from '../../parts/params'
import { ProblemBox } from '../../parts/problem-box'
import { TagsCard } from '../../parts/tags'
import { texts } from '../../texts'
import { RecentJobs } from '../jobs/recent-jobs'
import { EventsTable } from '../maintenance/events-table'
import { NODE_ACTIONS, nodePath } from './actions'
import { Metrics } from './metrics'
import { MonitoringCards } from './monitoring-card'
import { type ClusterNode, hasHelper, NodeRole } from './node'
import { StorageCard } from './storage-card'

const own = texts.nodes
const route = getRouteApi('/nodes/$name')

const nodeQuery = (name: string) =>
  queryOptions({
    queryKey: ['nodes', 'one', name],
    queryFn: async (): Promise<ClusterNode> => ({
      ...(await got(api.GET('/3/nodes/{name}', { params: { path: { name } } }))),
      name,
    }),
  })

export function NodePage() {
  const { name } = route.useParams()
  const { data: node, error, refetch } = useQuery(nodeQuery(name))
  const gone = useGone({ resource: 'nodes', name, object: node, error })
  return (
    <Page
      title={name}
      note={node && <NodeRole role={node.role} />}
      actions={!gone && node && <Actions subject={node} actions={NODE_ACTIONS} shown={3} />}
    >
      {!gone && <ProblemBox error={error} retry={() => void refetch()} />}
      {!gone && node && <Cards node={node} />}
    </Page>
  )
}

function Cards({ node }: { node: ClusterNode }) {
  const { name } = node
  const may = useMay()
  // Reports show everything about a node, also instances outside of a token's scope.
  const reports = useRefusal()('nodes.query', 'machines') === undefined
  return (
    <>
      <div className="cards">
        <General node={node} />
        <Resources name={name} />
        <Instances title={own.primary} names={node.pinst_list} />
        <Instances title={own.secondary} names={node.sinst_list} />
        <ParamsCard title={own.parameters} values={node.ndparams} own={node.custom_ndparams} names={own.value} />
        <TagsCard kind="node" path={nodePath(node)} name={name} tags={node.tags} />
        <Card title={texts.instances.recentJobs}>
          <RecentJobs about={`node/${name}`} />
        </Card>
      </div>
      {may('nodes.storage.query') && node.offline !== true && <StorageCard node={name} />}
      {may('maintenance.query') && (
        <Card title={own.events}>
          <EventsTable node={name} />
        </Card>
      )}
      {reports && node.offline !== true && <Metrics name={name} />}
      {reports && <MonitoringCards node={name} />}
    </>
  )
}

function General({ node }: { node: ClusterNode }) {
  const { facts } = own
  return (
    <Card title={own.general}>
      <Facts
        facts={[
          [own.columns.role, <NodeRole key="role" role={node.role} />],
          [
            facts.group,
            node.group && (
              <Link key="group" to="/groups/$name" params={{ name: node.group }}>
                {node.group}
              </Link>
            ),
          ],
          [facts.primaryIp, node.pip],
          [facts.secondaryIp, node.sip],
          [facts.powered, hasHelper(node) ? yesOrNo(node.powered) : undefined],
          [facts.masterCapable, yesOrNo(node.master_capable)],
          [facts.vmCapable, yesOrNo(node.vm_capable)],
          [facts.seen, <Ago key="seen" time={node.seen} />],
          [
            facts.uuid,
            <span key="uuid" className="mono">
              {node.uuid}
            </span>,
          ],
        ]}
      />
    </Card>
  )
}

const TOLD = 'name,mfree,mtotal,mnode,dfree,dtotal,ctotal,csockets,spfree'

/** Shows the node's last known figures, so that the page does not wait for a node that hangs. */
function Resources({ name }: { name: string }) {
  const { rows, error } = useList<ClusterNode>({
    resource: 'nodes',
    query: { fields: TOLD, known: 'true', filter: allOf([['==', 'name', name]]) },
  })
  const [node] = rows
  const { facts } = own
  return (
    <Card title={own.resources}>
      <ProblemBox error={error} />
      <Facts
        facts={[
          [
            facts.memory,
            <Usage key="memory" label={facts.memory} used={usedOf(node?.mfree, node?.mtotal)} total={node?.mtotal} />,
          ],
          [
            facts.disk,
            <Usage key="disk" label={facts.disk} used={usedOf(node?.dfree, node?.dtotal)} total={node?.dtotal} />,
          ],
          [facts.cpus, node?.ctotal],
          [facts.sockets, node?.csockets],
          [facts.spindles, node?.spfree],
        ]}
      />
    </Card>
  )
}

function Instances({ title, names }: { title: string; names: readonly string[] | null | undefined }) {
  return (
    <Card title={names && names.length > 0 ? `${title} (${names.length})` : title}>
      <NameLinks kind="instance" names={names} none={own.none} />
    </Card>
  )
}
