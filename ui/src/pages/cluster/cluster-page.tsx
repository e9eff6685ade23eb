// The page of the cluster: facts, verification, and all settings with descriptions.
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { WITHOUT_INSTANCES } from '../../api/changes'
import { api, got } from '../../api/client'
import { type Cluster, useCluster } from '../../api/cluster'
import { ActionAt, Actions } from '../../parts/action'
import { FilterField } from '../../parts/filter-field'
import { PolicyCard } from '../../parts/ipolicy-card'
import { NameLinks, ObjectLink } from '../../parts/names'
import { Card, Facts, Nothing, Page } from '../../parts/page'
import { ParamsCard } from '../../parts/params'
import { ProblemBox } from '../../parts/problem-box'
import { Rows } from '../../parts/rows'
import { TagsCard } from '../../parts/tags'
import { Time } from '../../parts/time'
import { texts } from '../../texts'
import { CHANGE_SETTING, CLUSTER_ACTIONS } from './actions'
import { settingsOf, shortText } from './settings'
import { VerifyCard } from './verify-card'

const own = texts.cluster
const route = getRouteApi('/cluster')

export interface ClusterSearch {
  readonly q?: string
}

export function ClusterPage() {
  const { data: cluster, error, refetch, refusal } = useCluster()
  return (
    <Page
      title={own.title}
      note={cluster?.name}
      actions={<Actions subject={null} actions={CLUSTER_ACTIONS} shown={2} />}
    >
      <ProblemBox error={error} retry={() => void refetch()} />
      {refusal !== undefined && <Nothing text={texts.overview.notShown(refusal)} />}
      {cluster && <Cards cluster={cluster} />}
    </Page>
  )
}

function Cards({ cluster }: { cluster: Cluster }) {
  return (
    <>
      <div className="cards">
        <General cluster={cluster} />
        <VerifyCard />
        <Candidates />
        <TagsCard kind="cluster" path="/3/cluster" name={cluster.name} tags={cluster.tags} />
      </div>
      <Settings cluster={cluster} />
      <div className="cards">
        <PolicyCard policy={cluster.ipolicy} />
        <ParamsCard title={own.defaults.beparams} values={cluster.beparams} />
        <ParamsCard title={own.defaults.nicparams} values={cluster.nicparams} />
        <ParamsCard title={own.defaults.ndparams} values={cluster.ndparams} />
        <ParamsCard title={own.defaults.diskparams} values={cluster.diskparams} />
        {cluster.enabled_hypervisors.map((name) => (
          <ParamsCard key={name} title={own.hypervisor(name)} values={cluster.hvparams[name]} />
        ))}
      </div>
    </>
  )
}

function General({ cluster }: { cluster: Cluster }) {
  const { facts } = own
  return (
    <Card title={own.general}>
      <Facts
        facts={[
          [facts.version, cluster.software_version],
          // Every cluster has a master and candidates, but a token with a scope may not show them.
          [facts.master, cluster.master ? <ObjectLink key="master" kind="node" name={cluster.master} /> : own.noMaster],
          [facts.hypervisors, cluster.enabled_hypervisors.join(', ')],
          [facts.templates, cluster.enabled_disk_templates.join(', ')],
          [facts.queue, cluster.drained ? texts.jobs.queue.drained : texts.jobs.queue.open],
          [facts.changed, <Time key="changed" time={cluster.mtime} />],
          [
            facts.uuid,
            <span key="uuid" className="mono">
              {cluster.uuid}
            </span>,
          ],
        ]}
      />
    </Card>
  )
}

const CANDIDATES = JSON.stringify(['|', ['==', 'role', 'M'], ['==', 'role', 'C']])

function Candidates() {
  const { data, error } = useQuery({
    queryKey: ['nodes', 'list', 'candidates'],
    meta: WITHOUT_INSTANCES,
    queryFn: () =>
      got(api.GET('/3/nodes', { params: { query: { fields: 'name', known: true, filter: CANDIDATES, limit: 100 } } })),
  })
  return (
    <Card title={own.candidates}>
      <ProblemBox error={error} />
      {data && <NameLinks kind="node" names={data.items.flatMap(({ name }) => name ?? [])} none={own.noCandidates} />}
    </Card>
  )
}

function Settings({ cluster }: { cluster: Cluster }) {
  const { q = '' } = route.useSearch()
  const navigate = route.useNavigate()
  const letters = q.toLowerCase()
  const found = settingsOf(cluster).filter(({ name, text }) => `${name} ${text}`.toLowerCase().includes(letters))
  return (
    <Card
      title={own.settings}
      aside={
        <FilterField
          label={own.filter}
          value={q}
          change={(next) => void navigate({ search: { q: next }, replace: true, resetScroll: false })}
        />
      }
    >
      <Text size="sm" c="dimmed" p="10px 14px 4px">
        {own.settingsText}
      </Text>
      <Rows
        label={own.settings}
        head={own.columns}
        none={own.noSettings}
        rows={found.map((setting) => [
          <span key="name" className="mono">
            {setting.name}
          </span>,
          <span key="value" className="mono setting" title={shortText(setting)}>
            {shortText(setting) || '–'}
          </span>,
          setting.text,
          <ActionAt key="change" subject={setting} action={CHANGE_SETTING} />,
        ])}
      />
    </Card>
  )
}
