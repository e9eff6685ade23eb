// The cluster's address on two machines that share a network: network namespaces that are joined by a cable.
import { spawnSync } from 'node:child_process'
import * as path from 'node:path'
import { systemRandom } from '../../src/lib/random'
import { testWith } from '../support/needs'

const id = systemRandom.hex(3)
const [here, there] = [`gnta${id}`, `gntb${id}`]
const run = (...words: string[]) => spawnSync(words[0] ?? '', words.slice(1), { encoding: 'utf8' })
const ip = (...words: string[]): boolean => run('ip', ...words).status === 0
const inside = (name: string, ...words: string[]) => run('ip', 'netns', 'exec', name, ...words)
const hasArping = run('arping', '-V').status === 0
const permitted = process.geteuid?.() === 0 && ip('netns', 'add', here) && ip('netns', 'add', there)
const netTest = testWith(hasArping && permitted, 'iputils-arping iproute2')

beforeAll(() => {
  if (!permitted) return
  ip('link', 'add', 'gnt0', 'netns', here, 'type', 'veth', 'peer', 'name', 'gnt0', 'netns', there)
  for (const [name, address] of [
    [here, '192.0.2.1'],
    [there, '192.0.2.2'],
  ] as const) {
    // prettier-ignore
    ip('-n', name, 'link', 'set', 'gnt0', 'up')
    ip('-n', name, 'address', 'add', `${address}/24`, 'dev', 'gnt0')
  }
})
afterAll(() => {
  for (const name of [here, there]) ip('netns', 'delete', name)
})

const CLUSTER = '192.0.2.254'
const CLUSTER_6 = 'fd00:9::fe'
const built = (file: string) => `require(${JSON.stringify(path.join(__dirname, '../../dist', file))})`

function change(name: string, what: 'add' | 'del', address = CLUSTER, netmask = 32): string {
  const code = `const host = { ...${built('lib/machine.js')}.thisMachine, clock: ${built('lib/clock.js')}.systemClock, log: { warn: (_, text) => console.log(text) } }
    ${built('node/network/addresses.js')}.setAddress(host, '${what}', '${address}', ${netmask}, 'gnt0')
    .then(() => console.log('done'), (error) => console.log(error.message))`
  return inside(name, process.execPath, '-e', code).stdout.trim()
}

const neighbour = (name: string, address = CLUSTER): string =>
  /lladdr (\S+)/.exec(inside(name, 'ip', 'neigh', 'show', address).stdout)?.[1] ?? ''
const hardware = (name: string): string => inside(name, 'cat', '/sys/class/net/gnt0/address').stdout.trim()

/** The neighbour still has the hardware address of the machine that had it before. */
function remembersFormerOwner(name: string, address: string): void {
  const wrong = '02:00:00:00:00:99'
  inside(name, 'ip', 'neigh', 'replace', address, 'lladdr', wrong, 'dev', 'gnt0', 'nud', 'stale')
  expect(neighbour(name, address)).toBe(wrong)
}

netTest('is not taken from a machine that has it, and a neighbour is told at once where it is', () => {
  expect(change(there, 'add')).toBe('done')
  expect(change(here, 'add')).toBe('Another machine on the network of gnt0 has the address 192.0.2.254')
  expect(change(there, 'del')).toBe('done')
  remembersFormerOwner(there, CLUSTER)
  expect(change(here, 'add')).toBe('done')
  expect(neighbour(there)).toBe(hardware(here))
})

netTest('nor is one of IPv6, which the kernel looks for, a neighbour is told, and nobody is called from it', () => {
  expect(change(there, 'add', CLUSTER_6, 64)).toBe('done')
  expect(change(here, 'add', CLUSTER_6, 64)).toBe(`Another machine on the network of gnt0 has the address ${CLUSTER_6}`)
  expect(inside(here, 'ip', '-6', 'address', 'show', 'dev', 'gnt0').stdout).not.toContain(CLUSTER_6)
  expect(change(there, 'del', CLUSTER_6, 64)).toBe('done')
  remembersFormerOwner(there, CLUSTER_6)
  expect(change(here, 'add', CLUSTER_6, 64)).toBe('done')
  expect(neighbour(there, CLUSTER_6)).toBe(hardware(here))
  expect(inside(here, 'cat', '/proc/sys/net/ipv6/conf/gnt0/ndisc_notify').stdout).toBe('0\n')
  expect(inside(here, 'ip', '-6', 'address', 'show', 'dev', 'gnt0').stdout).toMatch(/fd00:9::fe\/64 .*deprecated/)
})
