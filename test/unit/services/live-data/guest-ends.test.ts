// Guests that end without a request are noticed without polling.
import { place } from '../../../../src/config/edit'
import { recordValues } from '../../../../src/config/records'
import { silentLog as log } from '../../../../src/lib/log'
import type { ConfigData } from '../../../../src/model/config'
import { GUEST_ENDS_AGAIN_S, GUEST_ENDS_S } from '../../../../src/model/limits/live-data'
import type { NodeClient } from '../../../../src/rpc/node/client'
import { GuestEnds } from '../../../../src/services/live-data/guest-ends'
import { goldenConfig } from '../../../support/golden-query'
import { SteppedClock } from '../../../support/stepped-clock'

interface Question {
  readonly node: string
  readonly args: unknown
  resolve(names: string[]): void
  reject(error: Error): void
}

/** inst5, on node1, is the one instance of KVM. */
function withState(admin_state: 'up' | 'down'): ConfigData {
  const config = goldenConfig()
  const guest = recordValues(config.instances).find(({ name }) => name === 'inst5.gnt.example')
  if (guest === undefined) throw new Error('not in the recorded state')
  return place(config, 'instances', guest.uuid, { ...guest, admin_state })
}

function start(config: ConfigData) {
  const requested: Question[] = []
  const probes: string[] = []
  const clock = new SteppedClock()
  const nodes = {
    one: ({ name }: { name: string }, call: string, args: unknown) =>
      new Promise((resolve, reject) => requested.push({ node: `${call} ${name}`, args, resolve, reject })),
  } as unknown as NodeClient
  const current = { config }
  const look = (node: string) => void probes.push(current.config.nodes[node]?.name ?? node)
  const ends = new GuestEnds({ nodes, clock, log, config: () => current.config, look })
  ends.start()
  return { asked: requested, looks: probes, clock, current, ends }
}

test('a node whose guests may end by themselves has one question open, and is looked at when one has ended', async () => {
  const { asked: requested, looks: probes, clock, ends } = start(withState('up'))
  const next = async () => {
    await clock.pass(0)
    return requested.shift()
  }
  const first = await next()
  expect(first).toMatchObject({ node: 'gantry_guest_ends node1.gnt.example', args: [GUEST_ENDS_S, []] })
  await clock.pass(GUEST_ENDS_AGAIN_S * 3)
  expect(requested).toEqual([])

  first?.resolve(['inst5.gnt.example'])
  const second = await next()
  expect(probes).toEqual(['node1.gnt.example'])
  expect(second).toMatchObject({ args: [GUEST_ENDS_S, ['inst5.gnt.example']] })
  second?.resolve(['inst5.gnt.example'])
  const third = await next()
  expect(probes).toHaveLength(1)

  third?.reject(new Error('gone'))
  expect(await next()).toBeUndefined()
  await clock.pass(GUEST_ENDS_AGAIN_S)
  expect(requested).toMatchObject([{ args: [GUEST_ENDS_S, []] }])
  ends.close()
})

test('nobody is asked where no guest should run, and no longer than one should', async () => {
  const { asked: requested, clock, current, ends } = start(withState('down'))
  expect(requested).toEqual([])
  current.config = withState('up')
  await clock.pass(GUEST_ENDS_AGAIN_S)
  expect(requested).toHaveLength(1)
  current.config = withState('down')
  requested.shift()?.resolve([])
  await clock.pass(GUEST_ENDS_AGAIN_S)
  expect(requested).toEqual([])
  ends.close()
})
