// A node that is back calls the watcher, but not for ever.
import { recordValues } from '../../../../src/config/records'
import { WATCHER_EVERY_S, WATCHER_RETURNS_MAX } from '../../../../src/model/limits/watcher'
import type { NewEvent } from '../../../../src/services/events/event-history'
import { NodeReturns } from '../../../../src/services/watcher/node-returns'
import { goldenConfig } from '../../../support/golden-query'
import { SteppedClock } from '../../../support/stepped-clock'

const [flaky, other] = recordValues(goldenConfig().nodes)
if (flaky === undefined || other === undefined) throw new Error('the recorded cluster has too few nodes')

function start() {
  const clock = new SteppedClock()
  const called: string[] = []
  const events: NewEvent[] = []
  const returns = new NodeReturns({ clock, add: (event) => events.push(event), call: (why) => called.push(why) })
  return { clock, called, events, returns }
}

test('the watcher is called for each node that is back', () => {
  const { called, returns } = start()
  returns.returned(flaky)
  returns.returned(other)
  expect(called).toEqual([`node ${flaky.name} is back`, `node ${other.name} is back`])
})

test('a node that comes and goes calls it a few times, then waits for the next run, and an event says so once', async () => {
  const { clock, called, events, returns } = start()
  for (let at = 0; at < 20; at++) {
    returns.returned(flaky)
    await clock.pass(3)
  }
  expect(called).toHaveLength(WATCHER_RETURNS_MAX)
  expect(events).toEqual([
    {
      type: 'watcher',
      objects: [`node/${flaky.name}`],
      data: { change: 'flapping', node: flaky.name, why: expect.stringContaining('wait for the next run') as string },
    },
  ])
  returns.returned(other)
  expect(called).toHaveLength(WATCHER_RETURNS_MAX + 1)
  await clock.pass(WATCHER_EVERY_S)
  returns.returned(flaky)
  expect(called).toHaveLength(WATCHER_RETURNS_MAX + 2)
})
