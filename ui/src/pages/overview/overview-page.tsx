// Whether all is well, and what is being done; each finding leads to its cause.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api, got } from '../../api/client'
import { Card, Facts, Nothing, Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { Status, type Tone } from '../../parts/status'
import { texts } from '../../texts'
import { BAD_STATES } from '../instances/instance'
import { RecentJobs } from '../jobs/recent-jobs'

const own = texts.overview

export function OverviewPage() {
  const cluster = useQuery({ queryKey: ['cluster'], queryFn: () => got(api.GET('/3/cluster', {})) })
  return (
    <Page title={cluster.data?.name ?? texts.nav.overview}>
      <ProblemBox error={cluster.error} retry={() => void cluster.refetch()} />
      <div className="columns">
        <Health />
        <Card title={own.running}>
          <RecentJobs status={['queued', 'waiting', 'running', 'canceling']} none={own.noneRunning} />
        </Card>
        <Card title={own.failed}>
          <RecentJobs status={['error']} none={own.noneFailed} />
        </Card>
        {cluster.data && (
          <Card title={own.counts}>
            <Facts
              facts={[
                [own.version, cluster.data.software_version],
                [
                  own.master,
                  cluster.data.master && (
                    <Link key="master" to="/nodes/$name" params={{ name: cluster.data.master }}>
                      {cluster.data.master}
                    </Link>
                  ),
                ],
                ['Hypervisors', cluster.data.enabled_hypervisors.join(', ')],
                ['Disk templates', cluster.data.enabled_disk_templates.join(', ')],
              ]}
            />
          </Card>
        )}
      </div>
    </Page>
  )
}

const BAD_INSTANCES = JSON.stringify(['|', ...BAD_STATES.map((state) => ['==', 'status', state])])
const COUNTED_MAX = 1000

function Health() {
  const instances = useQuery({
    queryKey: ['instances', 'list', 'bad'],
    queryFn: () =>
      got(
        api.GET('/3/instances', {
          params: { query: { fields: 'name,status', known: true, filter: BAD_INSTANCES, limit: COUNTED_MAX } },
        }),
      ),
  })
  const nodes = useQuery({
    queryKey: ['nodes', 'list', 'flags'],
    queryFn: () =>
      got(
        api.GET('/3/nodes', {
          params: {
            query: {
              fields: 'name,offline,drained',
              known: true,
              filter: '["|",["==","role","O"],["==","role","D"]]',
              limit: COUNTED_MAX,
            },
          },
        }),
      ),
  })
  const bad = instances.data?.items.length ?? 0
  const offline = nodes.data?.items.filter((node) => node.offline).length ?? 0
  const drained = (nodes.data?.items.length ?? 0) - offline
  const findings: [Tone, ReactNode][] = []
  if (bad > 0)
    findings.push([
      'bad',
      <Link key="bad" to="/instances" search={{ status: instances.data?.items[0]?.status ?? undefined }}>
        {own.badInstances(bad)}
      </Link>,
    ])
  const toNodes = (text: string) => (
    <Link key={text} to="/nodes" search={{ sort: '-role' }}>
      {text}
    </Link>
  )
  if (offline > 0) findings.push(['bad', toNodes(own.offlineNodes(offline))])
  if (drained > 0) findings.push(['warn', toNodes(own.drainedNodes(drained))])
  return (
    <Card title={own.health}>
      <ProblemBox error={instances.error ?? nodes.error} />
      {instances.data && nodes.data && findings.length === 0 && (
        <div style={{ padding: '12px 14px', fontSize: '0.875rem' }}>
          <Status tone="good" text={own.allWell} />
        </div>
      )}
      {findings.map(([tone, content], index) => (
        <div key={index} style={{ padding: '8px 14px', fontSize: '0.875rem', display: 'flex', alignItems: 'center' }}>
          <span className={`dot dot-${tone}`} aria-hidden="true" />
          {content}
        </div>
      ))}
      {(instances.data === undefined || nodes.data === undefined) && !instances.error && !nodes.error && (
        <Nothing text={texts.table.loading} />
      )}
    </Card>
  )
}
