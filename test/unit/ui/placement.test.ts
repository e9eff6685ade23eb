// Which nodes would do for a new instance, and why.
import { QueryClient } from '@tanstack/react-query'
import { consoleModule } from '../../support/console-actions'
import { consoleServer } from '../../support/console-server'

const RESULT = { groups: [{ name: 'default', candidates: [{ node: 'node1', accepted: true, score_change: 0.1 }] }] }

test('an allocator that takes longer answers by a job, and the result of that is shown', async () => {
  const asked = consoleServer(({ path }) =>
    path === '/3/capacity' ? [202, { id: 7 }] : [200, { id: 7, status: 'success', ops: [{ result: RESULT }] }],
  )
  type View = { placementQuery(wanted: object): Parameters<QueryClient['query']>[0] }
  const { placementQuery } = consoleModule<View>('pages/instances/placement-view.tsx')
  const client = new QueryClient({ defaultOptions: { queries: { gcTime: 0 } } })
  const wanted = { disk_template: 'plain', memory_mib: 512, vcpus: 1, disks_mib: [1024], group: 'default' }
  expect(await client.query(placementQuery(wanted))).toEqual(RESULT)
  const { group, ...spec } = wanted
  expect(asked.map(({ path, body }) => [path, body])).toEqual([
    ['/3/capacity', { spec, max_instances: 0, explain: true, groups: [group] }],
    ['/3/jobs/7', undefined],
  ])
  client.clear()
})
