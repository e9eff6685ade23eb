// What the watcher did is told from its reports.
import { recordValues } from '../../../../src/config/records'
import { silentLog } from '../../../../src/lib/log'
import { pathsOf } from '../../../../src/lib/paths'
import { WATCHER_EVERY_S, WATCHER_REPORT_NAMES_MAX } from '../../../../src/model/limits/watcher'
import type { WatcherReport } from '../../../../src/rpc/luxi/watcher-report'
import type { NewEvent } from '../../../../src/services/events/event-history'
import { WatcherReports } from '../../../../src/services/watcher/watcher-reports'
import { goldenConfig } from '../../../support/golden-query'
import { clockAt } from '../../../support/instant-clock'
import { MemoryDisk } from '../../config/memory-disk'

const config = goldenConfig()
const [group] = recordValues(config.nodegroups)
if (group === undefined) throw new Error('the recorded cluster has no node group')
const NOW_S = 2_000_000_000

const report = (fields: Partial<WatcherReport> = {}): WatcherReport => ({
  ...{ group: group.uuid, name: group.name, why: 'its time has come', started: NOW_S - 10, ended: NOW_S - 9 },
  ...{ restarted: [], cleanedUp: [], activated: [], gaveUp: [], left: [], failed: [], error: null },
  ...fields,
})

async function open(disk = new MemoryDisk()) {
  const events: NewEvent[] = []
  const paths = pathsOf('', 'node1.example.com')
  const parts = { disk, paths, clock: clockAt(NOW_S * 1000), log: silentLog }
  const add = (event: NewEvent) => void events.push(event)
  return { disk, paths, events, reports: await WatcherReports.open({ ...parts, config: () => config, add }) }
}

test('the last run of each node group is told, also after a restart', async () => {
  const { disk, paths, reports } = await open()
  expect(await reports.info()).toEqual({ paused_until: null, next_run: null, groups: [] })
  await reports.watched(report({ why: 'the first' }))
  await reports.watched(report())
  await reports.watched(report({ group: 'gone', name: 'gone' }))
  const reported = { paused_until: null, next_run: NOW_S - 10 + WATCHER_EVERY_S, groups: [report()] }
  expect(await reports.info()).toEqual(reported)
  disk.files.set(paths.watcherPause, Buffer.from(`${NOW_S + 60}\n`))
  expect(await (await open(disk)).reports.info()).toEqual({ ...reported, paused_until: NOW_S + 60 })
})

test('a file that cannot be read is none', async () => {
  const disk = new MemoryDisk()
  disk.files.set('/var/lib/ganeti/gantry-watcher.data', Buffer.from('[{'))
  expect((await (await open(disk)).reports.info()).groups).toEqual([])
})

test('an event tells what was done and for whom; a run that found all well makes none', async () => {
  const { events, reports } = await open()
  await reports.watched(report())
  expect(events).toEqual([])
  const done = report({ restarted: ['a'], failed: [{ name: 'b', job: 7, why: 'no disk' }] })
  await reports.watched(done)
  expect(events).toEqual([
    {
      type: 'watcher',
      objects: [`group/${group.name}`, 'instance/a', 'instance/b'],
      data: { change: 'ran', ...done },
    },
  ])
})

test('of thousands of names some are kept, and all are counted', async () => {
  const { reports } = await open()
  const restarted = Array.from({ length: 10_000 }, (_, at) => `i${at}`)
  await reports.watched(report({ restarted }))
  expect((await reports.info()).groups[0]?.restarted).toHaveLength(WATCHER_REPORT_NAMES_MAX)
  const [lastRun, outcomes] = reports.measures()
  expect(lastRun).toMatchObject({ values: [{ value: NOW_S - 9, labels: { group: group.name } }] })
  expect(outcomes).toMatchObject({
    values: expect.arrayContaining([
      { value: 10_000, labels: { outcome: 'restarted' } },
      { value: 1, labels: { outcome: 'runs' } },
    ]) as unknown,
  })
})
