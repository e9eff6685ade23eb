// Figures of wconfd over its socket: a call, a change, locks taken and given back. Nodes answer at once.
// Run: node -r ./test/support/run-typescript.js test/bench/wconfd.ts
import { performance } from 'node:perf_hooks'
import { smallConfig, buildInstance } from '../unit/config/builders'
import { TestWconfd } from '../unit/daemons/wconfd/support'
import type { ClientId } from '../../src/model/lock'
import { recordFrom } from '../../src/config/records'

const ROUNDS = 500
const PARALLEL = 32

async function measure(name: string, rounds: number, action: (n: number) => Promise<unknown>): Promise<void> {
  await action(0)
  const times: number[] = []
  const start = performance.now()
  for (let n = 1; n <= rounds; n++) {
    const begun = performance.now()
    await action(n)
    times.push(performance.now() - begun)
  }
  const total_s = (performance.now() - start) / 1000
  times.sort((a, b) => a - b)
  const at = (part: number) => (times[Math.floor(times.length * part)] ?? 0).toFixed(3)
  console.log(`${name.padEnd(46)} p50 ${at(0.5)} ms  p99 ${at(0.99)} ms  ${(rounds / total_s).toFixed(0)}/s`)
}

async function run(instances: number): Promise<void> {
  const wconfd = new TestWconfd()
  const config = smallConfig()
  const many = Array.from({ length: instances }, (_, n) => buildInstance(config, n + 1))
  await wconfd.start({ ...config, instances: recordFrom(many.map((one) => [one.uuid, one])) })
  const calls = wconfd.client()
  const owner: ClientId = (await wconfd.owner(1)).client
  // As in a cluster: each job process has its own connection.
  const others = await Promise.all(
    Array.from({ length: PARALLEL }, async (_, n) => ({ ...(await wconfd.owner(n + 2)), calls: wconfd.client() })),
  )
  const state = (n: number) =>
    [
      'setInstanceStatus',
      many[n % instances]?.uuid,
      (n + Math.floor(n / instances)) % 2 ? 'up' : 'down',
      null,
      null,
    ] as const

  console.log(`\n${instances} instances`)
  await measure('echo', ROUNDS * 4, () => calls.echo('x'))
  await measure('gantryRead of one instance', ROUNDS, () => calls.gantryRead({ instances: ['inst1.example.com'] }))
  await measure('gantryChange', ROUNDS, (n) => calls.gantryChange(owner, null, [[...state(n)]]))
  await measure(`${PARALLEL} changes at once`, ROUNDS / 10, (n) =>
    Promise.all(others.map(({ calls: own }, i) => own.gantryChange(owner, null, [[...state(n + i)]]))),
  )
  await measure('acquire and free', ROUNDS, async () => {
    await calls.gantryAcquire(owner, 0, [['cluster/BGL', 'shared']], null)
    await calls.freeLocks(owner)
  })
  await measure(`${PARALLEL} owners acquire and free at once`, ROUNDS / 10, () =>
    Promise.all(
      others.map(async ({ client, calls: own }, i) => {
        await own.gantryAcquire(client, 0, [['cluster/BGL', 'shared']], null)
        await own.gantryAcquire(client, 0, [[`instance/i${i}`, 'exclusive']], null)
        await own.freeLocks(client)
      }),
    ),
  )
  await measure(`${PARALLEL} owners in turn for one lock`, ROUNDS / 10, () =>
    Promise.all(
      others.map(async ({ client, calls: own }) => {
        await own.gantryAcquire(client, 0, [['instance/one', 'exclusive']], null)
        await own.freeLocks(client)
      }),
    ),
  )
  await wconfd.remove()
}

async function main(): Promise<void> {
  for (const instances of [100, 1000, 10_000]) await run(instances)
}

void main()
