// The overview: health, capacity, balance and running jobs. Each finding links to its cause.
import { Link } from '@tanstack/react-router'
import { useCluster } from '../../api/cluster'
import type { components } from '../../api/schema'
import { Card, Facts, Nothing, Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { texts } from '../../texts'
import { RecentJobs } from '../jobs/recent-jobs'
import { BalanceCard } from './balance-card'
import { CapacityCard } from './capacity-card'
import { EventsCard } from './events-card'
import { HealthCard } from './health-card'

const own = texts.overview

export function OverviewPage() {
  const cluster = useCluster()
  return (
    <Page title={cluster.data?.name ?? texts.nav.overview}>
      <ProblemBox error={cluster.error} retry={() => void cluster.refetch()} />
      <div className="cards">
        <HealthCard />
        {cluster.data && <CapacityCard cluster={cluster.data} />}
        {cluster.refusal !== undefined && <NotShown title={own.capacity.title} refusal={cluster.refusal} />}
        <BalanceCard />
        <Card title={own.running}>
          <RecentJobs status={['queued', 'waiting', 'running', 'canceling']} none={own.noneRunning} />
        </Card>
        <Card title={own.failed}>
          <RecentJobs status={['error']} none={own.noneFailed} />
        </Card>
        <EventsCard />
        {cluster.data && <CountsCard cluster={cluster.data} />}
        {cluster.refusal !== undefined && <NotShown title={own.counts} refusal={cluster.refusal} />}
      </div>
    </Page>
  )
}

/** A card about the cluster, for those who may not see it. */
const NotShown = ({ title, refusal }: { title: string; refusal: string }) => (
  <Card title={title}>
    <Nothing text={own.notShown(refusal)} />
  </Card>
)

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
