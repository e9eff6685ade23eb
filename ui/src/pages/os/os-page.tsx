// One operating system: whether all nodes have the same definition, and the cluster's settings for it.
import { queryOptions, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { api, got } from '../../api/client'
import { hypervisorQuery, useCluster } from '../../api/cluster'
import { Actions } from '../../parts/action'
import { ObjectLink } from '../../parts/names'
import { Card, Facts, Page } from '../../parts/page'
import { yesOrNo } from '../../format/differences'
import { ParamsCard } from '../../parts/params'
import { ProblemBox } from '../../parts/problem-box'
import { Rows } from '../../parts/rows'
import { Status } from '../../parts/status'
import { texts } from '../../texts'
import { CHANGE_OS, type Os } from './actions'
import { OsState } from './list-page'
import { nodeStatesOf } from './node-states'

const own = texts.os
const route = getRouteApi('/os/$name')

const osQuery = (name: string) =>
  queryOptions({
    queryKey: ['os', 'one', name],
    queryFn: async (): Promise<Os> => ({
      ...(await got(api.GET('/3/os/{name}', { params: { path: { name } } }))),
      name,
    }),
  })

export function OneOsPage() {
  const { name } = route.useParams()
  const { data: os, error, refetch } = useQuery(osQuery(name))
  const { data: cluster } = useCluster()
  const { data: hypervisors } = useQuery(hypervisorQuery)
  const facts = os && cluster && hypervisors && { os, cluster, hypervisors }
  return (
    <Page
      title={name}
      note={os && <OsState os={os} />}
      actions={facts && <Actions subject={facts} actions={[CHANGE_OS]} shown={1} />}
    >
      <ProblemBox error={error} retry={() => void refetch()} />
      {os && <Cards os={os} />}
    </Page>
  )
}

function Cards({ os }: { os: Os }) {
  return (
    <>
      <div className="cards">
        <Card title={own.general}>
          <Facts
            facts={[
              [own.columns.state, <OsState key="state" os={os} />],
              [own.hidden, yesOrNo(os.hidden ?? false)],
              [own.blacklisted, yesOrNo(os.blacklisted ?? false)],
              [own.trusted, yesOrNo(os.trusted ?? false)],
              [own.columns.variants, (os.variants ?? []).join(', ')],
              [own.columns.api, (os.api_versions ?? []).join(', ')],
            ]}
          />
        </Card>
        <Card title={own.parameters}>
          <Rows
            label={own.parameters}
            head={own.parameterColumns}
            none={own.noParameters}
            rows={(os.parameters ?? []).map(([name, text]) => [name, text])}
          />
        </Card>
        <ParamsCard title={own.osparams} values={os.osparams} />
        <ParamsCard title={own.hvparams} values={os.os_hvp} />
      </div>
      <Card title={own.nodes}>
        <Rows
          label={own.nodes}
          head={own.nodeColumns}
          none={own.noNodes}
          rows={nodeStatesOf(os.node_status).map(({ node, path, valid, text }) => [
            <ObjectLink key="node" kind="node" name={node} />,
            <span key="path" className="mono">
              {path}
            </span>,
            <Status key="valid" tone={valid ? 'good' : 'bad'} text={valid ? own.valued : own.broken} />,
            text || '–',
          ])}
        />
      </Card>
    </>
  )
}
