// Real confds at addresses of their own, some with other clocks.
import { type Confd, startConfd } from '../../../../src/daemons/confd/server'
import { type Clock, systemClock } from '../../../../src/lib/clock'
import { silentLog as log } from '../../../../src/lib/log'
import { seededRandom } from '../../../../src/lib/random'
import { clocksOf } from '../../../../src/rpc/confd/clocks'
import { goldenConfig } from '../../../support/golden-query'

const KEY = 'a key\n'
const HOUR_S = 3600
const config = goldenConfig()
const confds: Confd[] = []
afterEach(() => Promise.all(confds.splice(0).map((one) => one.close())))

const clockAhead = (ahead_s: number): Clock => ({ ...systemClock, now_ms: () => systemClock.now_ms() + ahead_s * 1000 })

async function serve(address: string, ahead_s: number, key = KEY): Promise<void> {
  const port = confds[0]?.port ?? 0
  confds.push(
    await startConfd({ address, port, clock: clockAhead(ahead_s), log, key: () => key, config: () => config }),
  )
}

/** The pauses of this clock end when what was sent has been answered, or as good as. */
const ask = (servers: readonly string[], ahead_s = 0) => {
  const clock = { ...clockAhead(ahead_s), sleep: () => systemClock.sleep(100) }
  return clocksOf({ key: KEY, servers, port: confds[0]?.port ?? 0, clock, random: seededRandom(1) })
}

test('whoever is silent because of another clock is found, and told from those that are down or know another key', async () => {
  await serve('127.0.0.1', 30)
  await serve('127.0.0.2', HOUR_S)
  await serve('127.0.0.3', -HOUR_S)
  await serve('127.0.0.4', 0, 'other')
  const found = await ask(['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5'])
  expect(found).toEqual([
    { server: '127.0.0.1', ahead_s: 0 },
    { server: '127.0.0.2', ahead_s: HOUR_S },
    { server: '127.0.0.3', ahead_s: -HOUR_S },
    { server: '127.0.0.4', ahead_s: undefined },
    { server: '127.0.0.5', ahead_s: undefined },
  ])
})

test('a node whose own clock is away sees all others so, whatever the distance within a day', async () => {
  await serve('127.0.0.1', -5 * HOUR_S - 200)
  await serve('127.0.0.2', 0)
  await serve('127.0.0.3', 23 * HOUR_S)
  expect(await ask(['127.0.0.1', '127.0.0.2'], -5 * HOUR_S - 200)).toEqual([
    { server: '127.0.0.1', ahead_s: 0 },
    { server: '127.0.0.2', ahead_s: 5 * HOUR_S },
  ])
  expect(await ask(['127.0.0.3'])).toEqual([{ server: '127.0.0.3', ahead_s: 23 * HOUR_S }])
})
