// Lists that ask no node show what is known of each.
import type { ViewRequest } from '../../../../src/rpc/luxi/gantry'
import { Access } from '../../../../src/services/access/access'
import { NodeCache } from '../../../../src/services/live-data/node-cache'
import { view } from '../../../../src/services/views/views'
import { findNode } from '../../../../src/config/lookup'
import { NODE_SILENT_S } from '../../../../src/model/limits/live-data'
import { goldenSource } from '../../../support/golden-query'
import { SteppedClock } from '../../../support/stepped-clock'

const NAME = 'node2.gnt.example'

test('an instance has no status before its node was heard, then its own, and that of a node that is down', async () => {
  const [source, clock] = [goldenSource(), new SteppedClock()]
  const node = findNode(source.config, NAME)
  const runtimes = source.live.recorded.instanceInfo[NAME]
  if (node === undefined || runtimes === undefined) throw new Error(`${NAME} is not in the recorded cluster`)
  const known = new NodeCache(clock)
  const access = new Access({ user: 'u', token: 't', permissions: ['*'] }, null)
  const ask = async (filter: unknown) => {
    const request = { what: 'instance', name: null, fields: ['status', 'oper_state'], filter, after: null }
    const { rows } = await view(access, { ...request, limit: 9, known: true, sort: null } as ViewRequest, source, known)
    return rows
  }
  const one = ['==', 'name', 'inst1.gnt.example']
  const down = ['&', one, ['==', 'status', 'ERROR_nodedown']]
  // As in every query, what is not known passes a filter.
  expect([await ask(one), await ask(down)]).toEqual([[[null, null]], [[null, null]]])
  known.learnRunning(node.uuid, runtimes, clock.monotonic_ms())
  expect([await ask(one), await ask(down)]).toEqual([[['running', true]], []])
  known.miss(node.uuid, 'running', NODE_SILENT_S)
  expect(await ask(down)).toEqual([])
  await clock.pass(NODE_SILENT_S)
  known.miss(node.uuid, 'running', NODE_SILENT_S)
  expect([await ask(one), await ask(down)]).toEqual([[['ERROR_nodedown', null]], [['ERROR_nodedown', null]]])
  known.learnRunning(node.uuid, runtimes, clock.monotonic_ms())
  expect(await ask(one)).toEqual([['running', true]])
  expect(source.live.asked).toEqual([])
})
