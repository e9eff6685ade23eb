// One node: its role, what it has, and the instances that need it.
import { Progress } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { api, got } from '../../api/client'
import { sizeText } from '../../format/size'
import { agoText } from '../../format/time'
import { Actions } from '../../parts/action'
import { allOf, useList } from '../../parts/list-query'
import { Card, Facts, Nothing, Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { texts } from '../../texts'
import { RecentJobs } from '../jobs/recent-jobs'
import { NODE_ACTIONS } from './actions'
import { type ClusterNode, NodeRole } from './node'

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
  return (
    <Page
      title={name}
      note={node && <NodeRole role={node.role} />}
      actions={node && <Actions subject={node} actions={NODE_ACTIONS} shown={3} />}
    >
      <ProblemBox error={error} retry={() => void refetch()} />
      {node && (
        <div className="columns">
          <Card title={own.general}>
            <Facts
              facts={[
                [own.columns.role, <NodeRole key="role" role={node.role} />],
                [own.columns.group, node.group],
                ['Primary address', node.pip],
                ['Secondary address', node.sip],
                ['Seen', agoText(node.seen)],
                ['Tags', (node.tags ?? []).join(', ')],
                [
                  'UUID',
                  <span key="uuid" className="mono">
                    {node.uuid}
                  </span>,
                ],
              ]}
            />
          </Card>
          <Resources name={name} />
          <InstanceList title={own.primary} names={node.pinst_list} />
          <InstanceList title={own.secondary} names={node.sinst_list} />
          <Card title={texts.instances.recentJobs}>
            <RecentJobs about={name} />
          </Card>
        </div>
      )}
    </Page>
  )
}

/** What the node told last: nobody waits for one that hangs. */
function Resources({ name }: { name: string }) {
  const { rows, error } = useList<ClusterNode>({
    resource: 'nodes',
    query: { fields: 'name,mfree,mtotal,dfree,dtotal,ctotal', known: 'true', filter: allOf([['==', 'name', name]]) },
  })
  const [node] = rows
  return (
    <Card title={own.resources}>
      <ProblemBox error={error} />
      <Facts
        facts={[
          ['Memory', <Share key="memory" free={node?.mfree} total={node?.mtotal} label="Memory in use" />],
          ['Disk', <Share key="disk" free={node?.dfree} total={node?.dtotal} label="Disk in use" />],
          [own.columns.cpus, node?.ctotal],
        ]}
      />
    </Card>
  )
}

interface ShareProps {
  readonly free: number | null | undefined
  readonly total: number | null | undefined
  readonly label: string
}

function Share({ free, total, label }: ShareProps) {
  if (typeof free !== 'number' || !total) return <>–</>
  const used = total - free
  return (
    <>
      {sizeText(used)} of {sizeText(total)} in use
      <Progress value={(used / total) * 100} size="sm" mt={4} aria-label={label} />
    </>
  )
}

const SHOWN = 50

function InstanceList({ title, names }: { title: string; names: readonly string[] | null | undefined }) {
  const all = names ?? []
  if (all.length === 0)
    return (
      <Card title={title}>
        <Nothing text={own.none} />
      </Card>
    )
  return (
    <Card title={`${title} (${all.length})`}>
      <div style={{ padding: '10px 14px', display: 'flex', flexWrap: 'wrap', gap: '4px 16px', fontSize: '0.875rem' }}>
        {all.slice(0, SHOWN).map((name) => (
          <Link key={name} to="/instances/$name" params={{ name }}>
            {name}
          </Link>
        ))}
        {all.length > SHOWN && '…'}
      </div>
    </Card>
  )
}
