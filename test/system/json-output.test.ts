// Every command that lists, shows or checks prints JSON, on an empty cluster and on a full one. The commands are those of the tables, so
// a new one is tried, or must be named below as one that acts.
import type { Argument, Command } from '../../src/cli/command'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { ALL_TOOLS } from '../support/all-tools'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'
import { roomyFolder } from '../support/roomy-folder'

/** Commands that change something, follow a job, or run programs. */
const ACTS: Readonly<Record<string, string>> = {
  'gnt-backup': 'export import remove',
  'gnt-cluster':
    'init destroy rename redist-conf master-failover copyfile command add-tags remove-tags modify remove-repair renew-crypto epo ' +
    'activate-master-ip deactivate-master-ip upgrade',
  'gnt-debug': 'delay submit-job test-jobqueue test-osparams',
  'gnt-filter': 'add replace delete',
  'gnt-group': 'add assign-nodes modify remove rename evacuate add-tags remove-tags',
  'gnt-instance':
    'add batch-create console failover migrate move reinstall remove rename replace-disks modify shutdown startup reboot activate-disks ' +
    'deactivate-disks recreate-disks grow-disk repair snapshot remove-snapshot rollback-snapshot change-group add-tags remove-tags',
  'gnt-job': 'archive autoarchive cancel wait watch change-priority',
  'gnt-network': 'add modify connect disconnect remove rename add-tags remove-tags',
  'gnt-node':
    'add evacuate failover migrate modify powercycle remove modify-storage repair-storage add-tags remove-tags repair-command ' +
    'restricted-command',
  'gnt-os': 'modify',
  'gnt-token': 'create revoke',
}

/** Those that have no answer here: the nodes are virtual, and no instance speaks with its node. */
const NOT_HERE: Readonly<Record<string, string>> = {
  'gnt-cluster adopt': 'cluster adopt --check',
  'gnt-debug metad': 'debug metad echo text',
}

/** What commands are called with that need more than the name of an object. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  'gnt-allocation capacity': ['-t drbd --memory 64m --disks 64m', '-t drbd --memory 64m --explain'],
  'gnt-allocation whatif': ['', 'node2 --explain', '-t sharedfile --memory 64m'],
  'gnt-cluster maintenance': ['settings', 'status', 'events'],
  'gnt-cluster monitor': ['', '--reports'],
  'gnt-cluster queue': ['info'],
  'gnt-cluster search-tags': ['.'],
  'gnt-cluster watcher': ['info', '-v info'],
  'gnt-debug confd': [
    'ping',
    'master',
    'noderole node1',
    'nodeips',
    'candidateips',
    'nodeinstances node1',
    'config /cluster',
  ],
  'gnt-debug iallocator': ['--dir in -m relocate vm2', '--dir in -m node-evacuate --evac-mode all vm2'],
  'gnt-debug wconfd': ['echo text', 'listalllocks', 'listalllocksowners', 'listlocks 1'],
  'gnt-instance info': ['--all', 'vm2'],
  'gnt-node power': ['status node1'],
}

/** Those that say with their exit code what they found, or that nodes cannot tell. */
const MAY_FAIL = /^gnt-(cluster (verify|verify-disks|monitor)|os diagnose|node (power|health))\b/

/** The name of an object, by the kind of the argument; those that are on an empty cluster, too, are marked. */
const NAMES: Readonly<Record<string, readonly [name: string, always: boolean]>> = {
  'group name': ['default', true],
  'instance name': ['vm2', false],
  'job id': ['1', true],
  'network name': ['lan', false],
  'node name': ['node1', true],
  'OS or provider name': ['gantry-tiny', true],
}

const requested = ALL_TOOLS.flatMap((tool) => {
  const acts = (ACTS[tool.name] ?? '').split(' ')
  const isAsked = ({ name }: Command) => !acts.includes(name) && !Object.hasOwn(NOT_HERE, `${tool.name} ${name}`)
  return tool.commands.filter(isAsked).map((command) => ({ tool: tool.name, command }))
})

/** With and without names, as far as the command allows. */
function linesOf(tool: string, { name, args }: Command, full: boolean): string[] {
  const line = `${tool} ${name}`
  const input = WORDS[line]
  if (input !== undefined) return full ? input.map((words) => `${line} ${words}`) : input.filter((words) => !words.includes('vm2')).map((words) => `${line} ${words}`) // prettier-ignore
  const [argument] = args
  const named = argument === undefined ? undefined : nameFor(tool, argument, full)
  const without = argument === undefined || argument.min === 0 ? [line] : []
  return named === undefined ? without : [...without, `${line} ${named}`]
}

function nameFor(tool: string, { kind }: Argument, full: boolean): string | undefined {
  // No provider of external storage is installed.
  if (tool === 'gnt-storage') return undefined
  const [name, always] = NAMES[kind] ?? []
  return always === true || full ? name : undefined
}

let cluster: EmbeddedCluster
beforeAll(async () => {
  // Mirrored disks need more room than a small /tmp has.
  const root = fs.mkdtempSync(path.join(roomyFolder(), 'gt-'))
  cluster = await startCluster(['--hypervisor', 'fake'], { root })
})
afterAll(() => cluster.remove())

async function done(line: string): Promise<string> {
  const { code, stdout, stderr } = await cluster.gnt(...line.split(' '))
  if (code !== 0) throw new Error(`${line} ended with ${code}: ${stdout}${stderr}`)
  return stdout
}

/** Runs two commands at a time, and returns those whose answers are wrong. */
async function complaints(full: boolean): Promise<string[]> {
  const left = requested.flatMap(({ tool, command }) => linesOf(tool, command, full))
  const bad: string[] = []
  const next = async (): Promise<void> => {
    for (let line = left.shift(); line !== undefined; line = left.shift()) {
      const { code, stdout, stderr } = await cluster.gnt(...`${line.replace(/^gnt-/, '').trim()} --json`.split(' '))
      const wrong = whyNoJson(stdout) ?? (code === 0 || MAY_FAIL.test(line) ? undefined : `exit code ${code}`)
      if (wrong !== undefined) bad.push(`${line} --json: ${wrong}: ${stdout.slice(0, 80)} ${stderr.slice(0, 300)}`)
    }
  }
  await Promise.all([next(), next()])
  return bad
}

function whyNoJson(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return String(error)
  }
}

test('the commands that are named here exist, and all others are asked', () => {
  const all = ALL_TOOLS.flatMap((tool) => tool.commands.map(({ name }) => `${tool.name} ${name}`))
  const named = Object.entries(ACTS).flatMap(([tool, names]) => names.split(' ').map((name) => `${tool} ${name}`))
  expect([...named, ...Object.keys(WORDS), ...Object.keys(NOT_HERE)].filter((one) => !all.includes(one))).toEqual([])
  const silent = requested.filter(({ tool, command }) => linesOf(tool, command, true).length === 0)
  expect(silent.map(({ tool, command }) => `${tool} ${command.name}`)).toEqual([])
})

test('on an empty cluster', async () => {
  expect(await complaints(false)).toEqual([])
  for (const line of Object.values(NOT_HERE)) {
    const { code, stderr } = await cluster.gnt(...line.split(' '), '--json')
    expect([code, stderr]).toEqual([1, expect.stringMatching(/virtual|not running here/)])
  }
})

test('on a full cluster', async () => {
  await done('network add --network=192.0.2.0/24 --gateway=192.0.2.1 lan')
  await done('network connect lan default -N mode=bridged,link=br0')
  await done('group add spare')
  const add = 'instance add -o gantry-tiny -B memory=64m'
  await done(`${add} -t drbd --disk 0:size=64m -n node1:node2 vm2`)
  await done(`${add} -t plain --disk 0:size=64m -n node3 --net 0:network=lan,ip=pool vm3`)
  await done(`${add} -t sharedfile --disk 0:size=64m --no-start vm4`)
  await done(`${add} -t diskless -H fake vm5`)
  for (const kind of ['cluster', 'group', 'instance', 'network', 'node'])
    await done(`${kind} add-tags ${NAMES[`${kind} name`]?.[0] ?? ''} tag:${kind} all`.replace('  ', ' '))
  await done('filter add --priority 5 --predicates [["jobid",[">","id",0]]] --action CONTINUE')
  await done('token create --user admin --permissions *.query t1')
  await done('backup export -n node2 --long-sleep vm3')
  await done('node modify --drained yes node3')
  await cluster.gnt('instance', 'remove', '-f', 'nosuch')
  expect(await complaints(true)).toEqual([])
})

test('of verify, with what it has found', async () => {
  await done('node modify --offline yes --force node3')
  const { code, stdout } = await cluster.gnt('cluster', 'verify', '--json')
  const answer = JSON.parse(stdout) as { clean: boolean; problems: unknown[] }
  expect([code, answer.clean]).toEqual([1, false])
  expect(answer.problems).toContainEqual({
    ...{ job: expect.any(Number), level: 'ERROR', kind: 'instance', name: 'vm3' },
    ...{ code: 'EINSTANCEBADNODE', text: expect.stringContaining('offline') },
  })
})
