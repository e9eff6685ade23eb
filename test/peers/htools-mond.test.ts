// Programs of allocation ask monitoring daemons over HTTP, which are played here: what they make of good, bad and missing answers is
// what Ganeti's own make of them.
import { once } from 'node:events'
import { randomInt } from 'node:crypto'
import * as fs from 'node:fs'
import * as http from 'node:http'
import * as os from 'node:os'
import * as path from 'node:path'
import { PORT } from '../../src/model/constants/daemons'
import { DEBIAN_HTOOLS, HTOOLS_PACKAGE, clusterOf, debianPresent, ours } from '../support/htools'
import { testWith } from '../support/needs'
import { runProgram } from '../support/run-program'

const peer = testWith(debianPresent(), HTOOLS_PACKAGE)
/** Nodes are asked by name, so these are named by the addresses where daemons are played. */
const base = `127.${randomInt(16, 250)}.${randomInt(0, 256)}`
const NODES = [1, 2, 3].map((at) => `${base}.${at}`)

let folder: string
const servers: http.Server[] = []
/** The answer of each node's daemon. */
let says: Readonly<Record<string, (collector: string) => readonly [status: number, body: string]>> = {}
let requested: string[] = []

beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'htools-mond-'))
  const names = NODES.reduce((text, name, at) => text.replaceAll(`node${at}.example.com`, name), clusterOf(3, 3, 9))
  fs.writeFileSync(path.join(folder, 'cluster'), names)
  for (const name of NODES) servers.push(await daemon(name))
})

afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  fs.rmSync(folder, { recursive: true })
})

async function daemon(name: string): Promise<http.Server> {
  const server = http.createServer((request, response) => {
    requested.push(`${name}${request.url}`)
    const [status, body] = says[name]?.(request.url?.split('/').at(-1) ?? '') ?? [404, '']
    response.writeHead(status, { Server: 'Snap/1.1.2.0' }).end(body)
  })
  server.listen(PORT.mond, name)
  await once(server, 'listening')
  return server
}

/** A report in the form that a daemon of Ganeti 3.0.2 was seen to use. */
const report = (name: string, data: unknown) =>
  [
    200,
    JSON.stringify({
      name,
      version: 'B',
      format_version: 1,
      timestamp: 1795229742414281000,
      category: null,
      kind: 0,
      data,
    }),
  ] as const
const cpus = (...loads: number[]) => ({
  ...{ cpu_number: loads.length, cpus: loads, cpu_total: loads.reduce((sum, one) => sum + one, 0) },
})
const whole = (load: number) => (collector: string) => report(collector, cpus(load / 2, load / 2))
const line = (...more: string[]) => ['-t', path.join(folder, 'cluster'), '--mond', ...more]

async function expectSame(...args: string[]): Promise<{ out: string; err: string; code: number }> {
  const mine = await ours('hbal', args)
  const { code, out, err } = await runProgram(`${DEBIAN_HTOOLS}/hbal`, args)
  // Each says in its own words what a node has not answered, and in its own order.
  const reported = (text: string) =>
    text
      .replaceAll(/(Failed to contact node's \S+ MonD for DC [-a-z]+).*/g, '$1')
      // Ganeti's programs do not name the node whose report they cannot read.
      .replaceAll(/^Can't read the report of node's .*\n/gm, '')
      .split('\n')
      .sort()
  expect({ ...mine, err: reported(mine.err) }).toEqual({ code, out, err: reported(err) })
  return mine
}

peer('the loads that all nodes tell are balanced', async () => {
  says = { [`${NODES[0]}`]: whole(3.5), [`${NODES[1]}`]: whole(0.25), [`${NODES[2]}`]: whole(0.5) }
  requested = []
  const { out } = await expectSame(...line('-C', '-p'))
  expect(requested.slice(0, 3).sort()).toEqual(NODES.map((name) => `${name}/1/report/default/cpu-avg-load`))
  expect(out).not.toBe((await ours('hbal', ['-t', path.join(folder, 'cluster'), '-C', '-p'])).out)
  await expectSame(...line('--ignore-dynu'))
})

peer('the loads of instances that Xen tells are balanced, if all are told of', async () => {
  const all = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`inst${at}.example.com`, at / 4]))
  const { 'inst8.example.com': _, ...some } = all
  const xen = (data: object) =>
    Object.fromEntries(NODES.map((name) => [name, (collector: string) => report(collector, data)]))
  says = xen(all)
  requested = []
  const { out } = await expectSame(...line('--mond-xen', '-C', '-p'))
  expect(requested[0]).toMatch(/\/1\/report\/default\/xen-cpu-avg-load$/)
  expect(out).not.toBe((await ours('hbal', ['-t', path.join(folder, 'cluster'), '-C', '-p'])).out)
  says = xen(some)
  expect((await expectSame(...line('--mond-xen'))).err).toContain(
    'No CPU information available for ["inst8.example.com"]',
  )
  expect(await expectSame(...line('--mond-xen', '--exit-on-missing-mond-data'))).toMatchObject({ code: 1 })
})

peer('loads are left out where a node tells nothing, or nothing that can be read', async () => {
  const good = whole(1)
  const bad: (typeof says)[string][] = [
    () => [404, 'no such report'],
    () => [500, '{}'],
    () => [200, ''],
    () => [200, 'no json'],
    () => [200, '[]'],
    () => [200, '{"name": "cpu-avg-load"}'],
    (name) => report(name, null),
  ]
  const unfit = [{}, { ...cpus(1), cpu_total: 'much' }]
  const calm = (await ours('hbal', ['-t', path.join(folder, 'cluster'), '-p'])).out
  for (const answer of bad) {
    says = { [`${NODES[0]}`]: good, [`${NODES[1]}`]: answer, [`${NODES[2]}`]: good }
    const { out, err } = await expectSame(...line('-p'))
    expect(err).toMatch(/^(Failed to contact|Can't read the report of) node's \S+\.2 MonD for DC cpu-avg-load: .+\n/m)
    expect({ out, err }).toEqual({ out: calm, err: expect.stringContaining("Didn't receive an answer by all MonDs") })
  }
  for (const data of unfit) {
    says = { [`${NODES[0]}`]: good, [`${NODES[1]}`]: (name) => report(name, data), [`${NODES[2]}`]: good }
    expect((await expectSame(...line('-p'))).out).toBe(calm)
  }
  expect(await expectSame(...line('--exit-on-missing-mond-data'))).toMatchObject({ code: 1 })
})

test('a node whose daemon does not run has told nothing', async () => {
  for (const server of servers.splice(1)) {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  says = { [`${NODES[0]}`]: whole(1) }
  const { code, err } = await ours('hbal', line())
  expect(code).toBe(0)
  expect(err).toMatch(/Failed to contact node's \S+ MonD for DC cpu-avg-load: .+/)
  if (debianPresent()) await expectSame(...line())
})
