// Doors change the memory of maintd, also while maintd does.
import { applyChange } from '../../../src/config/changes'
import { EMPTY_GANTRY } from '../../../src/config/upgrade'
import { systemClock } from '../../../src/lib/clock'
import { seededRandom } from '../../../src/lib/random'
import { begun, observe } from '../../../src/maintenance/event-lifecycle'
import type { Documents } from '../../../src/model/config'
import { OpPrereqError } from '../../../src/model/errors'
import { MAINTENANCE, type RepairEvent } from '../../../src/model/maintenance'
import type { WireOpCode } from '../../../src/rpc/luxi/calls'
import { Access } from '../../../src/services/access/access'
import { MaintenanceService } from '../../../src/services/maintenance'
import { wconfdOf } from '../../support/job-surroundings'
import { master, smallConfig } from '../config/builders'

const caller = new Access({ user: 'anna', token: null, permissions: ['*'] }, null)

function serviceWith(more: Partial<RepairEvent> = {}) {
  const config = smallConfig()
  const node = master(config)
  let documents: Documents = { config, gantry: EMPTY_GANTRY }
  const apply = (...changes: Parameters<typeof applyChange>[1][]) => {
    for (const one of changes) documents = applyChange(documents, one, { now_s: 1, random: seededRandom(1) }).documents
  }
  const [event] = observe([], new Map([[node.uuid, { status: 'evacuate' }]]), { now_s: 1, newId: () => 'e1' }).events
  if (event === undefined) throw new Error('nothing was noted')
  apply(['setGantry', MAINTENANCE.events, 'e1', { ...event, ...more }])
  const requested: WireOpCode[] = []
  /** Somebody else changes the event before the first write arrives. */
  const race: { first?: () => void } = {}
  const service = new MaintenanceService(
    {
      ...{ clock: systemClock, config: () => config, gantry: () => documents.gantry },
      wconfd: wconfdOf({
        async gantryChange(_client, _epoch, changes) {
          race.first?.()
          delete race.first
          apply(...changes)
          return []
        },
      }),
    },
    { ask: async (_, op) => requested.push(op) },
  )
  return { service, asked: requested, race, event, apply, node }
}

test('an event is canceled once, also while maintd changes it', async () => {
  const { service, race, event, apply } = serviceWith()
  race.first = () => apply(['setGantry', MAINTENANCE.events, 'e1', begun(event, 2)])
  expect(await service.cancel(caller, 'e1')).toMatchObject({ id: 'e1', 'repair-status': 'canceled', serial_no: 3 })
  expect(await service.cancel(caller, 'e1')).toMatchObject({ 'repair-status': 'canceled', serial_no: 3 })
  expect(service.view().events).toMatchObject([{ 'repair-status': 'canceled' }])
})

test('what has ended is not canceled, and what goes on is not acknowledged', async () => {
  await expect(serviceWith({ status: 'failed' }).service.cancel(caller, 'e1')).rejects.toThrow('acknowledge it instead')
  await expect(serviceWith().service.acknowledge(caller, 'e1')).rejects.toThrow('cancel it instead')
  await expect(serviceWith().service.cancel(caller, 'e2')).rejects.toThrow('There is no event e2')
})

test('to acknowledge an event removes its tag', async () => {
  const { service, asked: requested, node } = serviceWith({ status: 'completed', tagged: true })
  await service.acknowledge(caller, 'e1')
  expect(requested).toMatchObject([
    { OP_ID: 'OP_TAGS_DEL', kind: 'node', name: node.name, tags: ['maintd:repairready:e1'] },
  ])
})

test('an event is acknowledged as soon as its node has the tag, also before maintd has seen it', async () => {
  const { service, asked: requested, node } = serviceWith({ status: 'failed', tag: 'maintd:repairfailed:e1' })
  await expect(service.acknowledge(caller, 'e1')).rejects.toThrow('its node has no tag of it yet')
  Object.assign(node, { tags: ['maintd:repairfailed:e1'] })
  await service.acknowledge(caller, 'e1')
  expect(requested).toMatchObject([{ OP_ID: 'OP_TAGS_DEL', tags: ['maintd:repairfailed:e1'] }])
})

test('settings become parameters of the cluster, and unknown ones are refused', async () => {
  const { service, asked: requested } = serviceWith()
  await service.set(caller, { evacuation: true, diagnose_command: 'check' })
  expect(requested).toMatchObject([{ maint_evacuation: true, diagnose_data_collector_filename: 'check' }])
  await expect(service.set(caller, { evacuate: true })).rejects.toThrow('evacuate: there is no such setting')
  await expect(service.set(caller, {})).rejects.toThrow('Name a setting')
  await expect(service.set(caller, { diagnose_command: '../check' })).rejects.toBeInstanceOf(OpPrereqError)
  await expect(service.set(caller, { round_delay: 0 })).rejects.toBeInstanceOf(OpPrereqError)
})
