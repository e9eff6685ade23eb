// Automatic maintenance: repairs of nodes, balancing, and the watcher.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, got } from '../../api/client'
import { timeText } from '../../format/time'
import { useRefusal } from '../../api/session'
import { Ago, Time } from '../../parts/time'
import { ActionAt } from '../../parts/action'
import { ObjectLink } from '../../parts/names'
import { Card, Facts, Nothing, Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { Rows } from '../../parts/rows'
import { Status } from '../../parts/status'
import { texts } from '../../texts'
import { CHANGE_SETTINGS, type Maintenance, PAUSE_WATCHER, RESUME_WATCHER, type Watcher } from './actions'
import { EventsTable, maintenanceQuery } from './events-table'

const own = texts.maintenance

export function MaintenancePage() {
  const refusal = useRefusal()
  const why = refusal('maintenance.query')
  const { data } = useQuery({ ...maintenanceQuery, enabled: why === undefined })
  if (why !== undefined)
    return (
      <Page title={own.title}>
        <Card title={own.events}>
          <Nothing text={texts.overview.notShown(why)} />
        </Card>
        {refusal('cluster.info', 'cluster') === undefined && <WatcherCard />}
      </Page>
    )
  return (
    <Page title={own.title}>
      <Card title={own.events}>
        <EventsTable />
      </Card>
      <div className="cards">
        {data && <Round view={data} />}
        {data && (
          <Card title={own.settings} aside={<ActionAt subject={data.settings} action={CHANGE_SETTINGS} />}>
            <Facts
              facts={Object.entries(data.settings).map(([name, value]) => [
                own.setting[name] ?? name,
                displayed(value),
              ])}
            />
          </Card>
        )}
      </div>
      {refusal('cluster.info', 'cluster') === undefined && <WatcherCard />}
    </Page>
  )
}

function displayed(value: unknown): string {
  if (typeof value === 'boolean') return value ? own.on : own.off
  return value === '' ? own.noProgram : String(value)
}

function Round({ view: { jobs, outlook, problems } }: { view: Maintenance }) {
  return (
    <>
      <Card title={own.round}>
        {jobs.length === 0 && <Nothing text={own.noRound} />}
        {jobs.map(({ job, text }, at) => (
          <div key={at} className="line">
            {job !== null && (
              <Link to="/jobs/$id" params={{ id: String(job) }}>
                {texts.jobs.one(job)}
              </Link>
            )}
            <span style={{ overflowWrap: 'anywhere' }}>{text}</span>
          </div>
        ))}
      </Card>
      <Card title={own.outlook}>
        {outlook.length === 0 && <Nothing text={own.noOutlook} />}
        {outlook.map((line, at) => (
          <div key={at} className="line">
            {line}
          </div>
        ))}
      </Card>
      {Object.keys(problems).length > 0 && (
        <Card title={own.problems}>
          <Facts facts={Object.entries(problems).map(([name, why]) => [name, why])} />
        </Card>
      )}
    </>
  )
}

export const watcherQuery = {
  queryKey: ['watcher', 'list'],
  queryFn: () => got(api.GET('/3/watcher', {})),
}

function WatcherCard() {
  const { data, error, refetch } = useQuery(watcherQuery)
  return (
    <Card title={own.watcher} aside={data && <WatcherActions watcher={data} />}>
      <ProblemBox error={error} retry={() => void refetch()} />
      {data && (
        <>
          <div className="line">{own.watcherText}</div>
          <Facts
            facts={[
              [texts.table.status, <WatcherState key="state" watcher={data} />],
              [own.next, <Time key="next" time={data.next_run} />],
            ]}
          />
          <Rows
            label={own.runs}
            head={own.runColumns}
            none={own.noRuns}
            rows={data.groups.map((run) => [
              <ObjectLink key="group" kind="group" name={run.name} />,
              <Ago key="ago" time={run.ended} />,
              run.error ?? run.why,
              run.restarted.join(', ') || '–',
              run.activated.join(', ') || '–',
              run.left.map(({ name, why }) => `${name}: ${why}`).join('; ') || '–',
              run.failed.map(({ name, why }) => `${name}: ${why}`).join('; ') || '–',
            ])}
          />
        </>
      )}
    </Card>
  )
}

const WatcherState = ({ watcher: { paused_until: until } }: { watcher: Watcher }) =>
  until === null ? <Status tone="good" text={own.atWork} /> : <Status tone="warn" text={own.paused(timeText(until))} />

const WatcherActions = ({ watcher }: { watcher: Watcher }) => (
  <span>
    <ActionAt subject={null} action={PAUSE_WATCHER} />
    <ActionAt subject={watcher} action={RESUME_WATCHER} />
  </span>
)
