// Output of commands is that of a real Ganeti, in front of its recorded answers.
import * as path from 'node:path'
import { fillBeParams, fillHvParams } from '../../../src/config/filled'
import type { ConfigData } from '../../../src/model/config'
import type { LogEntry } from '../../../src/rpc/luxi/calls'
import differences from '../../golden/differences.json'
import { FakeMaster, type ScriptedJob } from '../../support/fake-master'
import { goldenConfig, goldenSource, readJson } from '../../support/golden-query'
import { runCli } from '../../support/run-cli'

const GOLDEN = path.join(__dirname, '../../golden/cli')

interface Recording {
  command: string
  exit: number
  stdout: string
  stderr: string
}

const recordings = readJson(path.join(GOLDEN, 'recorded.json')) as Recording[]

/** The typed words, without the quotes that the shell removes. */
const wordsOf = (command: string): string[] =>
  [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '')

test.each(recordings)('$command prints what Ganeti prints', async (recording) => {
  const words = wordsOf(recording.command)
  const master = masterFor(recording)
  const result = await runCli(master, words)
  const ours = differences.find((difference) => difference.recording === `cli/${recording.command}`)
  if (ours !== undefined) return expect(result.stdout + result.stderr).toBe(ours.gantry)
  expect(known(result.stdout)).toBe(known(recording.stdout))
  expect([spoken(result.stderr), result.exit]).toEqual([recording.stderr, recording.exit])
})

/** Paths that are compiled in differ between builds. */
const known = (text: string): string => text.replace(/^( {2}(OS|ExtStorage Providers) search path: ).*$/gm, '$1')

/** 3.1 checks neither names nor addresses unless asked to, and says that these options do nothing. */
const spoken = (text: string): string => text.replace(/^Warning: --no-(ip|name)-check has no effect.*\n/gm, '')

function masterFor(recording: Recording): FakeMaster {
  const source = goldenSource(configFor(recording.command))
  for (const [name, [, , hypervisors]] of Object.entries(source.live.recorded.nodeInfo))
    if (hypervisors?.[0])
      Object.assign(hypervisors[0], { memory_dom0: 273, memory_free: /node[14]/.test(name) ? 22600 : 22400 })
  const master = new FakeMaster(scriptFor(recording), source)
  // The cluster was modified between the two recordings.
  master.clusterInfo = { ...(readJson(path.join(GOLDEN, 'cluster-info.json')) as object), mtime: 1795232845 }
  return master
}

function configFor(command: string): ConfigData {
  const config = goldenConfig()
  if (!command.includes('name,drained')) return config
  const nodes = Object.entries(config.nodes).map(([uuid, node]) => [
    uuid,
    { ...node, drained: node.name.startsWith('node4') },
  ])
  return { ...config, nodes: Object.fromEntries(nodes) as ConfigData['nodes'] }
}

/** Jobs that answer as those of the recorded cluster did; their logs are those that it printed. */
function scriptFor({ command, stdout, stderr }: Recording): ScriptedJob[] {
  if (command.includes('cluster verify')) return [...handedOn(stdout), ...followed(stdout, [true])]
  if (command.startsWith('gnt-instance info inst1'))
    return [{ id: 1, result: readJson(path.join(GOLDEN, 'instance-data.json')) }]
  if (command.startsWith('gnt-instance info -s')) return [{ id: 1, result: { inst5: instance5() } }]
  if (command === 'gnt-job info 731') return [delayJob]
  if (command === 'gnt-os diagnose') return [{ id: 1, result: osRows() }]
  const result = command.startsWith('gnt-node modify')
    ? [
        ['master_candidate', true],
        ['drained', false],
      ]
    : []
  const error = /error type: (\w+), error details:\n(.*)\n/.exec(stderr)
  if (error) return [{ id: 1, error: ['OpPrereqError', [error[2], error[1]]] }]
  return [{ id: command.includes('--submit') ? 836 : 1, log: logOf(stdout.split('\n')), result }]
}

/** The job that submits the others. */
function handedOn(stdout: string): ScriptedJob[] {
  const ids = /^Submitted jobs (.*)$/m.exec(stdout)?.[1]?.split(', ').map(Number) ?? []
  return [{ id: 1, result: { jobs: ids.map((id) => [true, id]) } }]
}

function followed(stdout: string, ok: unknown): ScriptedJob[] {
  const disks = stdout.includes('activated') ? [{}, [], {}] : ok
  return stdout
    .split('Waiting for job ')
    .slice(1)
    .map((part) => ({
      id: Number.parseInt(part, 10),
      log: logOf(part.split('\n')),
      result: Array.isArray(disks) && disks.length === 3 ? disks : true,
    }))
}

function logOf(lines: readonly string[]): LogEntry[] {
  return lines.flatMap((line, at): LogEntry[] => {
    const found = /^(\w{3} \w{3} [ \d]\d [\d:]{8} \d{4}) (.*)$/.exec(line)
    return found ? [[at + 1, [Date.parse(`${found[1]} UTC`) / 1000, 0], 'message', found[2] ?? '']] : []
  })
}

/** As OP_INSTANCE_QUERY_DATA describes inst5 without asking its node. */
function instance5(): unknown {
  const config = goldenConfig()
  const instance = Object.values(config.instances).find(({ name }) => name === 'inst5.gnt.example')
  if (instance === undefined) throw new Error('no inst5')
  const node = config.nodes[instance.primary_node]
  const group = config.nodegroups[node?.group ?? '']
  const [nic] = instance.nics
  const disk = config.disks[instance.disks[0] ?? '']
  return {
    ...instance,
    config_state: instance.admin_state,
    run_state: null,
    pnode: node?.name,
    pnode_group_uuid: group?.uuid,
    pnode_group_name: group?.name,
    snodes: [],
    nics: [[null, nic?.uuid, null, nic?.mac, 'bridged', 'xen-br0', '', null, null]],
    disk_template: 'file',
    disks: [{ ...disk, name: null, spindles: null, pstatus: null, sstatus: null, children: [] }],
    hv_instance: instance.hvparams,
    hv_actual: fillHvParams(config.cluster, instance, { skipClusterOnly: true }),
    be_instance: instance.beparams,
    be_actual: fillBeParams(config.cluster, instance.beparams),
    os_instance: {},
    os_actual: {},
  }
}

/** The recorded cluster showed its nodes by uuid, in an order of its own. */
function osRows(): unknown[] {
  const { live } = goldenSource()
  const nodes = [
    '7c48018d-57b4-4e07-8a53-0e4baf8f8e59',
    '6579ba41-4950-4722-b2a1-7f1efa659aad',
    'e8d56ac1-915c-49f9-8bb1-36e90c83850b',
    'e9073192-ea38-459d-9274-2809808207b0',
  ]
  const found = live.recorded.operatingSystems['node1.gnt.example'] ?? []
  return ['debootstrap', 'noop'].map((name) => {
    const [, ...rest] = found.find((os) => os[0] === name) ?? []
    return [name, true, rest[3], Object.fromEntries(nodes.map((node) => [node, [rest]])), false, false]
  })
}

const delayJob: ScriptedJob = {
  id: 731,
  fields: {
    id: 731,
    ops: [
      {
        OP_ID: 'OP_TEST_DELAY',
        comment: null,
        debug_level: 0,
        depends: null,
        duration: 0.01,
        interruptible: false,
        no_locks: true,
        on_master: true,
        on_node_uuids: ['e8d56ac1-915c-49f9-8bb1-36e90c83850b'],
        on_nodes: [],
        priority: 0,
        reason: [['gnt:opcode:test_delay', 'job=731;index=0', 1795232558160373000]],
        repeat: 0,
      },
    ],
    oplog: [[]],
    opstart: [[1795232558, 728603]],
    opexec: [[1795232595, 57859]],
    opend: [[1795232595, 966415]],
    received_ts: [1795232558, 160373],
    start_ts: [1795232558, 728603],
    end_ts: [1795232595, 966426],
  },
}

test('a disk without a device of its own on the node is not shown with an empty one', async () => {
  const data = readJson(path.join(GOLDEN, 'instance-data.json')) as Record<string, { disks: object[] }>
  const [[name, instance] = ['', undefined]] = Object.entries(data)
  const image = { ...instance?.disks[0], dev_type: 'rbd', logical_id: ['rbd', 'a.rbd.disk0'], pstatus: ['', null, null, null, null, false, 1] } // prettier-ignore
  const master = new FakeMaster([{ id: 1, result: { [name]: { ...instance, disks: [image] } } }], goldenSource())
  const { stdout } = await runCli(master, ['gnt-instance', 'info', name])
  expect(stdout).toContain('      on primary: no device on the node\n')
})
