// Files and commands reach all nodes, be they virtual or real.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { FakeMaster } from '../../../support/fake-master'
import { goldenConfig, goldenSource } from '../../../support/golden-query'
import { type CliOptions, runCli } from '../../../support/run-cli'

let root: string
beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-nodes-'))
})
afterEach(() => fs.rmSync(root, { recursive: true }))

/** The recorded cluster's online nodes, the master last. */
const online = (): string[] => {
  const config = goldenConfig()
  const nodes = Object.values(config.nodes)
    .filter((node) => !node.offline)
    .sort((left, right) => (left.name < right.name ? -1 : 1))
  const isMaster = (uuid: string) => uuid === config.cluster.master_node
  return [...nodes.filter(({ uuid }) => !isMaster(uuid)), ...nodes.filter(({ uuid }) => isMaster(uuid))].map(
    ({ name }) => name,
  )
}
const masterNode = () => online().at(-1) ?? ''

function run(words: readonly string[], options: CliOptions = {}) {
  const master = new FakeMaster([], goldenSource())
  master.configValues = { cluster_name: 'cluster.gnt.example', master_node: masterNode() }
  return runCli(master, words, options)
}

/** A program that is asked for is noted, and ends with this code and output. */
function player(code: number, output: string) {
  const started: (readonly string[])[] = []
  const settings: unknown[] = []
  return {
    started,
    settings,
    run: async (argv: readonly string[], setting?: object) => {
      started.push(argv)
      settings.push(setting)
      return { code, signal: null, stdout: output, stderr: '', output, timedOut: false }
    },
  }
}

describe('gnt-cluster copyfile', () => {
  test('puts a file with its mode into the same place of every virtual node but the master', async () => {
    const [first = '', ...rest] = online()
    for (const name of [first, ...rest]) fs.mkdirSync(path.join(root, name, 'etc'), { recursive: true })
    const file = path.join(root, masterNode(), 'etc', 'motd')
    fs.writeFileSync(file, 'hello', { mode: 0o640 })
    expect(await run(['gnt-cluster', 'copyfile', file], { nodesRoot: root })).toMatchObject({ exit: 0 })
    for (const name of [first, ...rest]) {
      const copy = path.join(root, name, 'etc', 'motd')
      expect([fs.readFileSync(copy, 'utf8'), fs.statSync(copy).mode & 0o777]).toEqual(['hello', 0o640])
    }
  })

  test('keeps the whole path of a file that is in no tree of a node, and names nodes that it does not reach', async () => {
    const [first = '', second = ''] = online()
    fs.mkdirSync(path.join(root, first))
    const file = path.join(root, 'plain')
    fs.writeFileSync(file, 'x')
    const words = ['gnt-cluster', 'copyfile', '-n', first, '-n', second, file]
    const { exit, stderr } = await run(words, { nodesRoot: root })
    expect(fs.readFileSync(path.join(root, first, file), 'utf8')).toBe('x')
    expect([exit, stderr]).toEqual([
      0,
      expect.stringMatching(`^Copy of file ${file} to node ${second}:\\d+ failed: .*ENOENT`),
    ])
  })

  test('goes over scp to real nodes, by secondary address where that is asked for', async () => {
    const file = path.join(root, 'plain')
    fs.writeFileSync(file, 'x')
    const [first = ''] = online()
    const { started, run: play } = player(1, 'lost connection\n')
    const words = ['gnt-cluster', 'copyfile', '-n', first, '--use-replication-network', file]
    const { stderr } = await run(words, { run: play })
    const ip = Object.values(goldenConfig().nodes).find(({ name }) => name === first)?.secondary_ip
    expect(started[0]?.slice(0, 2)).toEqual(['scp', '-p'])
    expect(started[0]).toContain('-oHostKeyAlias=cluster.gnt.example')
    expect(started[0]?.slice(-2)).toEqual([file, `${ip}:${file}`])
    expect(stderr).toContain(`to node ${ip}:22 failed: lost connection\n`)
  })

  test('refuses a file that is not there', async () => {
    expect(await run(['gnt-cluster', 'copyfile', '/no/such'])).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining("error type: wrong_input, error details:\nNo such filename '/no/such'\n"),
    })
  })
})

describe('gnt-cluster command', () => {
  test('runs one line in the shell of every online node, the master last', async () => {
    const { started, run: play } = player(0, 'up\n')
    const { stdout, exit } = await run(['gnt-cluster', 'command', 'uptime', '-p', '|', 'cat'], { run: play })
    expect(started.map((argv) => argv.slice(-2))).toEqual(online().map((name) => [`root@${name}`, 'uptime -p | cat']))
    expect([exit, stdout.startsWith('------------------------------------------------\nnode: ')]).toEqual([0, true])
    expect(stdout.endsWith(`node: ${masterNode()}\nup\n\nreturn code = 0\n`)).toBe(true)
  })

  test('runs it with the root of each virtual node', async () => {
    const [first = ''] = online()
    fs.mkdirSync(path.join(root, first))
    const { started, settings, run: play } = player(3, 'one\ntwo\n')
    const words = ['gnt-cluster', 'command', '-n', first, '-M', 'uptime']
    const { stdout } = await run(words, { nodesRoot: root, run: play })
    expect(stdout).toContain(`${first}: one\n${first}: two\nreturn code = 3\n`)
    const cwd = `${root}/${first}`
    expect(started).toEqual([['/bin/sh', '-c', 'uptime']])
    expect(settings).toMatchObject([{ cwd, env: { GANETI_ROOTDIR: cwd, GANETI_HOSTNAME: first } }])
  })

  test('shows failures only, where that is asked for', async () => {
    const good = await run(['gnt-cluster', 'command', '--failure-only', 'true'], { run: player(0, '').run })
    expect(good.stdout).toBe('')
    const bad = await run(['gnt-cluster', 'command', '--failure-only', 'false'], { run: player(1, '').run })
    expect(bad.stdout.match(/return code = 1/g)).toHaveLength(online().length)
  })

  test('says that no node has such a name', async () => {
    const { exit, stderr } = await run(['gnt-cluster', 'command', '-n', 'nosuch', 'true'], { run: player(0, '').run })
    expect([exit, stderr]).toEqual([
      1,
      expect.stringMatching(/error type: unknown_entity.*\nNode name nosuch not found\n$/),
    ])
    const group = await run(['gnt-cluster', 'command', '-g', 'nosuch', 'true'], { run: player(0, '').run })
    expect([group.exit, group.stderr]).toEqual([
      1,
      "There is no such node in group 'nosuch'; gnt-node list shows those of the cluster\n",
    ])
  })
})
