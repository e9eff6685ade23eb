// Which nodes would do for a new instance, and why.
import { QueryClient, QueryObserver, type QueryObserverOptions } from '@tanstack/react-query'
import { consoleModule } from '../../support/console-actions'
import { consoleServer } from '../../support/console-server'

const RESULT = { groups: [{ name: 'default', candidates: [{ node: 'node1', accepted: true, score_change: 0.1 }] }] }

const requested = consoleServer(({ path }) =>
  path === '/3/capacity' ? [202, { id: 7 }] : [200, { id: 7, status: 'success', ops: [{ result: RESULT }] }],
)

type View = { placementQuery(desired: object, may: (permission: string) => boolean): QueryObserverOptions }
const { placementQuery } = consoleModule<View>('pages/instances/placement-view.tsx')
const WANTED = {
  disk_template: 'plain',
  memory_mib: 512,
  vcpus: 1,
  disks_mib: [1024],
  disks_spindles: [2],
  tags: [],
  networks: ['lan'],
  group: 'default',
}

test('an allocator that takes longer answers by a job, and the result of that is shown', async () => {
  const client = new QueryClient({ defaultOptions: { queries: { gcTime: 0 } } })
  expect(await client.query(placementQuery(WANTED, () => true) as Parameters<QueryClient['query']>[0])).toEqual(RESULT)
  const { group, tags: _none, ...spec } = WANTED
  expect(requested.map(({ path, body }) => [path, body])).toEqual([
    ['/3/capacity', { spec, max_instances: 0, explain: true, groups: [group] }],
    ['/3/jobs/7', undefined],
  ])
  client.clear()
})

test('candidates beside a plan are asked for again when they are old, and never by who may not know', () => {
  const client = new QueryClient({ defaultOptions: { queries: { gcTime: 0 } } })
  const asks = (age_s: number, permission: string) => {
    const options = placementQuery(WANTED, (one) => one === permission)
    client.setQueryData(options.queryKey ?? [], RESULT, { updatedAt: Date.now() - age_s * 1000 })
    const leave = new QueryObserver(client, options).subscribe(() => undefined)
    const isAsked = client.isFetching() > 0
    leave()
    client.clear()
    return isAsked
  }
  expect([asks(10, 'cluster.capacity'), asks(60, 'cluster.capacity'), asks(60, 'other')]).toEqual([false, true, false])
})
