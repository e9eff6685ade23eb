// Recorded requests to a real cluster's monitoring daemon, sent to the one of an embedded cluster which begins in the same state.
import { PORT } from '../../src/model/constants/daemons'
import type { NodeMonitoring } from '../../src/model/monitoring'
import type { EmbeddedCluster } from '../support/embedded-cluster'
import { startRecordedCluster } from '../support/recorded-state'
import { replayMond } from '../support/replay-mond'

let cluster: EmbeddedCluster
beforeAll(async () => {
  cluster = await startRecordedCluster(715)
})
afterAll(() => cluster.remove())

test('answers as recorded', async () => {
  const { complaints, replayed } = await replayMond(cluster.address, PORT.mond)
  expect(complaints).toEqual([])
  expect(replayed).toBeGreaterThan(10)
})

test('knows the instances of its node from confd, and asks the simulator how they are', async () => {
  const response = await fetch(`http://${cluster.address}:${PORT.mond}/1/report/instance/inst-status`)
  const { data } = (await response.json()) as { data: { instances: object[] } }
  expect(data.instances).toMatchObject([
    { name: 'inst5.gnt.example', adminState: 'down', actualState: 'shutdown', status: { code: 0, message: '' } },
  ])
})

test('every simulated node has its own reports in the view of them all', async () => {
  const { stdout } = await cluster.gnt('cluster', 'monitor', '--json')
  const items = JSON.parse(stdout) as NodeMonitoring[]
  expect(items.map(({ answer, status, figures }) => [answer, status, figures?.storage?.name])).toEqual(
    items.map(() => ['reports', 0, 'xenvg']),
  )
  const memory = items.map(({ figures }) => Number(figures?.memory_total_bytes) / 2 ** 20)
  const listed = await cluster.gnt('node', 'list', '--no-headers', '--units=m', '-o', 'mtotal')
  expect(memory).toEqual(listed.stdout.trim().split('\n').map(Number))
})
