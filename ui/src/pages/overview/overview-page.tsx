// The overview: health, capacity, balance and running jobs. Each finding links to its cause.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { clusterQuery } from '../../api/cluster'
import type { components } from '../../api/schema'
import { Card, Facts, Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { texts } from '../../texts'
import { RecentJobs } from '../jobs/recent-jobs'
import { BalanceCard } from './balance-card'
import { CapacityCard } from './capacity-card'
import { EventsCard } from './events-card'
import { HealthCard } from './health-card'

const own = texts.overview

export function OverviewPage() {
  const cluster = useQuery(clusterQuery)
  return (
    <Page title={cluster.data?.name ?? texts.nav.overview}>
      <ProblemBox error={cluster.error} retry={() => void cluster.refetch()} />
      <div className="cards">
        <HealthCard />
        {cluster.data && <CapacityCard cluster={cluster.data} />}
        <BalanceCard />
        <Card title={own.running}>
          <RecentJobs status={['queued', 'waiting', 'running', 'canceling']} none={own.noneRunning} />
        </Card>
        <Card title={own.failed}>
          <RecentJobs status={['error']} none={own.noneFailed} />
        </Card>
        <EventsCard />
        {cluster.data && <CountsCard cluster={cluster.data} />}
      </div>
    </Page>
  )
}

const CountsCard = ({ cluster }: { cluster: components['schemas']['ClusterView'] }) => (
  <Card title={own.counts}>
    <Facts
      facts={[
        [own.version, cluster.software_version],
        [
          own.master,
          cluster.master && (
            <Link key="master" to="/nodes/$name" params={{ name: cluster.master }}>
              {cluster.master}
            </Link>
          ),
        ],
        [own.hypervisors, cluster.enabled_hypervisors.join(', ')],
        [own.templates, cluster.enabled_disk_templates.join(', ')],
      ]}
    />
  </Card>
)
