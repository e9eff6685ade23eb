// A cluster whose nodes are reached by IPv6, in a network namespace that has nothing but its own addresses.
import { spawnSync } from 'node:child_process'
import { systemRandom } from '../../src/lib/random'
import { testWith } from '../support/needs'
import { type SeparateNodes, separateNodes } from '../support/separate-nodes'

const space = `gnt6${systemRandom.hex(3)}`
const enter = ['ip', 'netns', 'exec', space]
const run = (...words: string[]) => spawnSync(words[0] ?? '', words.slice(1), { encoding: 'utf8' })
const ip = (...words: string[]): boolean => run('ip', ...words).status === 0
const permitted = process.geteuid?.() === 0 && ip('netns', 'add', space)
const netTest = testWith(permitted && run('curl', '--version').status === 0, 'iproute2 curl')

const network = {
  cluster: 'fd00:6::fe',
  primary: ['fd00:6::1', 'fd00:6::2', 'fd00:6::3'],
  secondary: ['192.0.2.1', '192.0.2.2', '192.0.2.3'],
}
let cluster: SeparateNodes | undefined

beforeAll(() => {
  if (!permitted) return
  ip('-n', space, 'link', 'set', 'lo', 'up')
  for (const address of network.primary) ip('-n', space, 'address', 'add', `${address}/128`, 'dev', 'lo')
  for (const address of network.secondary) ip('-n', space, 'address', 'add', `${address}/32`, 'dev', 'lo')
})
afterAll(async () => {
  await cluster?.remove()
  if (permitted) ip('netns', 'delete', space)
})

/** A virtual node has no files of a real one, and listens on one address only. */
const KNOWN = /\/etc\/hosts|ganeti_pub_keys|using the secondary interface/

const requested = (url: string) => run(...enter, 'curl', '-gsk', '--max-time', '30', url).stdout
const addresses = () => run('ip', '-n', space, '-6', 'address', 'show', 'dev', 'lo').stdout
const GUEST = '-t diskless --no-install --no-nics --ignore-ipolicy -o gantry-tiny -n node1 inst1.example.com'.split(' ')

netTest('guests move, the remote API and mond answer, and another node becomes the master', async () => {
  const { gnt, start } = (cluster = await separateNodes(3, { network, enter }))
  const done = async (number: number, ...words: string[]) => {
    const { code, stdout, stderr } = await gnt(number, ...words)
    expect({ words, code, told: code === 0 ? '' : `${stdout}${stderr}` }).toEqual({ words, code: 0, told: '' })
    return stdout
  }
  const complaints = async (number: number) => {
    const { stdout } = await gnt(number, 'cluster', 'verify')
    return stdout.split('\n').filter((line) => line.includes('ERROR') && !KNOWN.test(line))
  }
  await Promise.all([start(2), start(3)])
  await start(1)
  expect(await complaints(1)).toEqual([])
  expect(await done(1, 'cluster', 'info')).toContain('primary ip version: 6')
  await done(1, 'instance', 'add', ...GUEST)
  await done(1, 'instance', 'startup', 'inst1.example.com')
  await done(1, 'instance', 'failover', '-f', '--ignore-ipolicy', '-n', 'node3', 'inst1.example.com')
  expect(await done(1, 'instance', 'list', '--no-headers', '-o', 'pnode,status')).toMatch(/^node3\S* running/)
  expect(requested(`https://[${network.cluster}]:5080/version`)).toContain('Unauthorized')
  expect(requested(`http://[${network.primary[1]}]:1815/1/list/collectors`)).toContain('"cpu-avg-load"')
  expect(addresses()).toMatch(/fd00:6::fe\/128 scope global deprecated/)
  await done(2, 'cluster', 'master-failover')
  expect(await complaints(2)).toEqual([])
  expect(requested(`https://[${network.cluster}]:5080/version`)).toContain('Unauthorized')
})
