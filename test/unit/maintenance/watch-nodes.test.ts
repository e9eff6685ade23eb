// What the nodes report, and what becomes of it: nothing but what a node itself has signed, lately, is ever noted.
import { change } from '../../../src/config/changes'
import { systemClock } from '../../../src/lib/clock'
import { NodeWatch } from '../../../src/maintenance/watch-nodes'
import type { Node } from '../../../src/model/config'
import {
  DIAGNOSE_ANSWER_BYTES_MAX,
  FLAPPING_CHANGES,
  FLAPPING_S,
  REPORT_KEPT_CHARS_MAX,
} from '../../../src/model/limits/maintenance'
import { canceledEvent, MAINTENANCE, problemsOf, repairEvents } from '../../../src/model/maintenance'
import { askMond } from '../../../src/rpc/mond/client'
import type { AskMond } from '../../../src/rpc/mond/endpoints'
import { GantryBox } from '../../support/gantry-box'
import { clockAt } from '../../support/instant-clock'
import { signedReport } from '../../support/signed-report'
import { buildNode, master, smallConfig } from '../config/builders'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'

const START_S = 1_000_000_000
const KEY = 'secret'

class Situation {
  readonly clock = clockAt(START_S * 1000)
  readonly box: GantryBox
  readonly nodes: readonly Node[]
  /** By the names of nodes: what their monds answer. */
  readonly answers = new Map<string, () => Promise<string>>()
  watch: NodeWatch

  constructor() {
    const config = smallConfig()
    const [first, second] = [master(config), buildNode(config, 2)]
    this.nodes = [first, second]
    const nodes = { [first.uuid]: first, [second.uuid]: second }
    this.box = new GantryBox(this.clock, { ...config, nodes })
    this.box.change(change('setGantry', MAINTENANCE.settings, 'diagnose_command', 'check'))
    for (const node of this.nodes) this.says(node, { status: 'Ok' })
    this.watch = this.restarted()
  }

  get node(): Node {
    const [, node] = this.nodes
    if (node === undefined) throw new Error('no node')
    return node
  }

  /** A maintd that begins anew, on this master or on the next one. */
  restarted(ask?: AskMond): NodeWatch {
    const requested: AskMond = async ({ name }) => ({
      text: (await this.answers.get(name)?.()) ?? '',
      date_ms: undefined,
    })
    const nodes = Object.fromEntries(this.nodes.map((node) => [node.uuid, node]))
    return (this.watch = new NodeWatch({
      ...{ memory: this.box.memory(), clock: this.clock, random: this.box.random, ask: ask ?? requested },
      config: () => ({ ...smallConfig(), nodes }),
      key: () => Promise.resolve(KEY),
    }))
  }

  /** From now on its program says this, in reports that are always new. */
  says(node: Node, report: unknown): void {
    this.answers.set(node.name, () => Promise.resolve(this.report(node, report)))
  }

  report(node: Node, report: unknown, at_s = this.clock.now_ms() / 1000, key = KEY): string {
    return signedReport(report, { node: node.name, at_s, key })
  }

  sends(text: string): void {
    this.answers.set(this.node.name, () => Promise.resolve(text))
  }

  async looksAfter(seconds: number): Promise<void> {
    await this.clock.sleep(seconds * 1000)
    await this.watch.look()
  }

  get events() {
    return repairEvents(this.box.gantry)
  }

  get problem(): string | undefined {
    return problemsOf(this.box.gantry)[this.node.name]
  }
}

const EVACUATE = { status: 'evacuate', details: { disk: 'sda' } }

test('a fault is noted once, however often it is reported', async () => {
  const all = new Situation()
  all.says(all.node, EVACUATE)
  for (let probes = 0; probes < 3; probes++) await all.looksAfter(30)
  expect(all.events).toMatchObject([{ node: all.node.uuid, status: 'noted', original: EVACUATE }])
  expect(all.problem).toBeUndefined()
})

test.each<[string, (all: Situation) => string, string]>([
  ['a forged report', (all) => all.report(all.node, EVACUATE, undefined, 'guessed'), 'forged'],
  ['one without a signature', () => JSON.stringify({ data: EVACUATE }), 'is not signed'],
  ['that of another node', (all) => all.report(master(smallConfig()), EVACUATE), 'is that of "node1.example.com"'],
  ['one from yesterday', (all) => all.report(all.node, EVACUATE, START_S - 86400), 's old: compare the clocks'],
  ['one from tomorrow', (all) => all.report(all.node, EVACUATE, START_S + 86400), 'from the future'],
  ['an unknown status', (all) => all.report(all.node, { status: 'explode' }), 'has the status "explode"'],
  ['details that are too long', (all) => all.report(all.node, { ...EVACUATE, more: 'x'.repeat(REPORT_KEPT_CHARS_MAX) }), 'shorten the details'], // prettier-ignore
  ['no JSON', () => '<html>', 'not a JSON object'],
])('what cannot be used moves nothing, and the node is named with the reason: %s', async (_, text, why) => {
  const all = new Situation()
  all.sends(text(all))
  await all.looksAfter(1)
  expect(all.events).toEqual([])
  expect(all.problem).toContain(why)
  all.says(all.node, { status: 'Ok' })
  await all.looksAfter(30)
  expect(all.problem).toBeUndefined()
})

test('a report with ten megabytes is not read to its end, and the node is named', async () => {
  const all = new Situation()
  const server = http.createServer((_, response) => {
    response.on('error', () => undefined)
    response.end(all.report(all.node, { ...EVACUATE, details: 'x'.repeat(10 << 20) }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  try {
    all.restarted((node, path, bounds) =>
      node.name === all.node.name
        ? askMond({ host: '127.0.0.1', port }, path, { ...bounds, clock: systemClock })
        : Promise.resolve({ text: all.report(master(smallConfig()), { status: 'Ok' }), date_ms: undefined }),
    )
    await all.watch.look()
  } finally {
    server.closeAllConnections()
    server.close()
  }
  expect(all.problem).toBe(`its answer is longer than ${DIAGNOSE_ANSWER_BYTES_MAX} bytes`)
  expect(all.events).toEqual([])
})

test('a replayed report is one for the next maintd, too', async () => {
  const all = new Situation()
  all.says(all.node, EVACUATE)
  await all.looksAfter(10)
  const old = all.report(all.node, EVACUATE)
  all.box.change(change('setGantry', MAINTENANCE.events, all.events[0]?.id ?? '', null))
  all.says(all.node, { status: 'Ok' })
  await all.looksAfter(10)
  for (const again of [false, true]) {
    if (again) all.restarted()
    all.sends(old)
    await all.looksAfter(1)
    expect(all.events).toEqual([])
    expect(all.problem).toContain('somebody replays it')
  }
})

test('times of reports are written when a node reports something else, and not each time', async () => {
  const all = new Situation()
  await all.looksAfter(30)
  const { writes } = all.box
  for (let probes = 0; probes < 5; probes++) await all.looksAfter(30)
  expect(all.box.writes).toBe(writes)
})

test('a node that does not answer is named, and what it reported before counts on', async () => {
  const all = new Situation()
  all.says(all.node, EVACUATE)
  await all.looksAfter(1)
  all.answers.set(all.node.name, () => Promise.reject(new Error('no answer within 10 s')))
  await all.looksAfter(30)
  expect(all.problem).toBe('no answer within 10 s')
  expect(all.events).toHaveLength(1)
})

test('a node that flaps is named, begins nothing new, and loses nothing that is known of it', async () => {
  const all = new Situation()
  await all.looksAfter(1)
  for (let turn = 2; turn < FLAPPING_CHANGES; turn++) {
    all.says(all.node, { ...EVACUATE, turn })
    await all.looksAfter(5)
  }
  all.says(all.node, EVACUATE)
  await all.looksAfter(5)
  expect(all.problem).toBeUndefined()
  const event = all.events.at(-1)
  if (event === undefined) throw new Error('not noted')
  all.box.change(change('setGantry', MAINTENANCE.events, event.id, canceledEvent(event, 1)))
  const known = all.events
  // A node that is well for once would have it forgotten that nothing is to be done.
  for (const report of [{ status: 'Ok' }, { status: 'live-repair', command: 'mend' }]) {
    all.says(all.node, report)
    await all.looksAfter(5)
    expect(all.problem).toMatch(/^it flaps: .* nothing new is noted/)
    expect(all.events).toEqual(known)
  }
  await all.looksAfter(FLAPPING_S)
  expect(all.problem).toBeUndefined()
  expect(all.events.at(-1)).toMatchObject({ action: 'live-repair', status: 'noted' })
  expect(all.events.find(({ id }) => id === event.id)).toBeUndefined()
})
