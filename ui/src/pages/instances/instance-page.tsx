// The page of an instance, with its data and actions.
import { Group, Tabs } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Problem } from '../../api/problem'
import { sizeText } from '../../format/size'
import { Ago, Time } from '../../parts/time'
import { ActionAt, Actions } from '../../parts/action'
import { useGone } from '../../parts/gone'
import { isOver } from '../../parts/job'
import { Card, Facts, Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { texts } from '../../texts'
import { ConsoleButton } from '../console/console-link'
import { actionsFor } from './actions'
import { ADD_TAGS, REMOVE_TAG } from './actions/change'
import { Activity } from './activity'
import { CreationCard, useCreation } from './creation'
import { Disks, Nics, Snapshots } from './devices'
import { type Instance, InstanceStatus } from './instance'
import { instanceQuery } from './instance-query'
import { Metrics } from './metrics'
import { ParameterCards } from './parameter-cards'
import { useSnapshotProblem } from './snapshot-problem'

const own = texts.instances
const words = own.page
const route = getRouteApi('/instances/$name')

export interface InstanceSearch {
  readonly tab?: string
}

const TABS = ['overview', 'parameters', 'metrics', 'activity'] as const

export function InstancePage() {
  const { name } = route.useParams()
  const { tab = 'overview' } = route.useSearch()
  const navigate = route.useNavigate()
  const client = useQueryClient()
  const missing = isMissing(client.getQueryState(instanceQuery(name).queryKey)?.error)
  const creation = useCreation(name, missing)
  const { data, error, refetch } = useQuery({ ...instanceQuery(name), enabled: creation.ready })
  const snapshotProblem = useSnapshotProblem(data)
  const instance: Instance | undefined = data && { ...data, snapshotProblem }
  const gone = useGone({ resource: 'instances', name, object: instance, error })
  const isCreated = creation.job === undefined || (instance !== undefined && isOver(creation.job))
  return (
    <Page
      title={name}
      note={instance && <InstanceStatus of={instance} />}
      actions={
        instance &&
        !gone && (
          <>
            <ConsoleButton name={name} />
            <Actions subject={instance} actions={actionsFor(instance)} shown={4} />
          </>
        )
      }
    >
      {creation.job !== undefined && !isCreated && <CreationCard job={creation.job} />}
      {isMissing(error) && isCreated && <Link to="/instances">{words.gone}</Link>}
      {!gone && isCreated && <ProblemBox error={error} retry={() => void refetch()} />}
      {instance && !gone && (
        <Tabs
          value={tab}
          keepMounted={false}
          onChange={(next) =>
            void navigate({ search: next === null || next === 'overview' ? {} : { tab: next }, replace: true })
          }
        >
          <Tabs.List mb="md">
            {TABS.map((one) => (
              <Tabs.Tab key={one} value={one}>
                {words.tabs[one]}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <Tabs.Panel value="overview">
            <div className="columns">
              <General instance={instance} />
              <div className="page">
                <Disks instance={instance} />
                <Snapshots instance={instance} />
                <Nics instance={instance} />
              </div>
            </div>
          </Tabs.Panel>
          <Tabs.Panel value="parameters">
            <ParameterCards instance={instance} />
          </Tabs.Panel>
          <Tabs.Panel value="metrics">
            <Metrics name={name} />
          </Tabs.Panel>
          <Tabs.Panel value="activity">
            <Activity name={name} />
          </Tabs.Panel>
        </Tabs>
      )}
    </Page>
  )
}

const isMissing = (error: unknown): boolean => error instanceof Problem && error.status === 404

function General({ instance }: { instance: Instance }) {
  const { pnode, snodes, os, hypervisor, disk_template: template, ctime, mtime, status_seen: observed } = instance
  const group = instance['pnode.group']
  return (
    <Card title={own.general}>
      <Facts
        facts={[
          [own.columns.status, <InstanceStatus key="status" of={instance} />],
          [words.seen, <Ago key="seen" time={observed} />],
          [own.columns.pnode, pnode && <NodeLink name={pnode} />],
          [
            own.columns.snodes,
            snodes && snodes.length > 0 && snodes.map((name) => <NodeLink key={name} name={name} />),
          ],
          [words.group, group],
          [own.columns.memory, sizeText(numberOf(instance.beparams, 'maxmem'))],
          [own.columns.vcpus, numberOf(instance.beparams, 'vcpus')],
          [own.columns.os, os],
          [own.hypervisor, hypervisor],
          [words.template, template && `${template}: ${own.templates[template] ?? ''}`],
          [own.tags, <TagList key="tags" instance={instance} />],
          [words.created, <Time key="created" time={ctime} />],
          [words.modified, <Time key="modified" time={mtime} />],
          [
            'UUID',
            <span key="uuid" className="mono">
              {instance.uuid}
            </span>,
          ],
        ]}
      />
    </Card>
  )
}

function TagList({ instance }: { instance: Instance }) {
  const tags = instance.tags ?? []
  return (
    <Group gap={4}>
      {tags.length === 0 && own.noTags}
      {tags.map((tag) => (
        <span key={tag} className="tag">
          {tag}
          <ActionAt subject={{ instance, tag }} action={REMOVE_TAG} label="×" name={texts.forms.removeNamed(tag)} />
        </span>
      ))}
      <ActionAt subject={instance} action={ADD_TAGS} />
    </Group>
  )
}

function numberOf(values: Readonly<Record<string, unknown>> | null | undefined, name: string): number | undefined {
  const value = values?.[name]
  return typeof value === 'number' ? value : undefined
}

const NodeLink = ({ name }: { name: string }) => (
  <Link to="/nodes/$name" params={{ name }} style={{ marginRight: 8 }}>
    {name}
  </Link>
)
