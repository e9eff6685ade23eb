// `gnt-cluster epo` takes power away and brings it back, in Ganeti's order.
import type { ConfigData } from '../../../../src/model/config'
import type { ScriptedJob } from '../../../support/fake-master'
import { FakeMaster } from '../../../support/fake-master'
import { GoldenLive, goldenConfig, goldenSource } from '../../../support/golden-query'
import { clockAt } from '../../../support/instant-clock'
import { runCli } from '../../../support/run-cli'

/** The recorded cluster, whose nodes have a helper for their power. */
function powered(change: (node: ConfigData['nodes'][string]) => object = () => ({})): ConfigData {
  const config = goldenConfig()
  const nodes = Object.values(config.nodes).map((node) => [node.uuid, { ...node, ...change(node) }])
  const ndparams = { ...config.cluster.ndparams, oob_program: '/usr/sbin/oob' }
  return { ...config, cluster: { ...config.cluster, ndparams }, nodes: Object.fromEntries(nodes) }
}

async function epo(line: string, options: { config?: ConfigData; script?: ScriptedJob[]; down?: string[] } = {}) {
  const source = { ...goldenSource(), config: options.config ?? powered() }
  const live = source.live
  if (live instanceof GoldenLive) for (const name of options.down ?? []) live.down.add(name)
  const script = options.script ?? Array.from({ length: 9 }, (_, at) => ({ id: at + 1, result: [] }))
  const master = new FakeMaster(script, source)
  const result = await runCli(master, `gnt-cluster epo -f ${line}`.trim().split(' '), { clock: clockAt(0) })
  return { ...result, ops: master.submitted.map(([op]) => op) }
}

const NODE2 = 'node2.gnt.example'

test('stops what runs on the nodes, and takes their power away', async () => {
  const { exit, ops, stdout } = await epo(NODE2)
  expect(exit).toBe(0)
  expect(ops.slice(0, -1).map((op) => [op?.OP_ID, op?.['no_remember']])).toEqual([
    ['OP_INSTANCE_SHUTDOWN', true],
    ['OP_INSTANCE_SHUTDOWN', true],
  ])
  expect(ops.at(-1)).toMatchObject({
    OP_ID: 'OP_OOB_COMMAND',
    node_names: [NODE2],
    command: 'power-off',
    ignore_status: true,
  })
  expect(stdout).toContain('All instances have been stopped successfully\n')
})

test('leaves the power on when an instance does not stop', async () => {
  const script = [{ id: 1 }, { id: 2, error: ['OpExecError', ['it hangs']] }]
  const { exit, ops, stderr } = await epo(NODE2, { script })
  expect([exit, ops.map((op) => op?.OP_ID)]).toEqual([1, ['OP_INSTANCE_SHUTDOWN', 'OP_INSTANCE_SHUTDOWN']])
  expect(stderr).toContain('1 error(s) out of 2 instance(s)\n')
  expect(stderr).toContain('Please investigate and stop instances manually before continuing\n')
})

test('does not touch the master without --all', async () => {
  const { exit, ops, stderr } = await epo('node1.gnt.example')
  expect([exit, ops]).toEqual([1, []])
  expect(stderr).toContain('node1.gnt.example is the master node, please do a master-failover')
})

test('brings power back, and starts instances whose nodes answer', async () => {
  const config = powered(({ name }) => (name === NODE2 ? { powered: false } : {}))
  const { exit, ops, stdout } = await epo(`--on ${NODE2}`, { config })
  expect(ops[0]).toMatchObject({ OP_ID: 'OP_OOB_COMMAND', command: 'power-on', node_names: [NODE2] })
  expect(ops.slice(1).map((op) => op?.OP_ID)).toEqual(['OP_INSTANCE_STARTUP', 'OP_INSTANCE_STARTUP'])
  expect([exit, stdout]).toEqual([0, expect.stringContaining(`Node ${NODE2} became available\n`)])
})

test('gives up after a quarter of an hour, and names the nodes that stay away', async () => {
  const { exit, ops, stderr } = await epo(`--on ${NODE2}`, { down: [NODE2] })
  expect([exit, ops]).toEqual([1, []])
  expect(stderr).toContain(`Time exceeded while waiting for nodes to become reachable again:\n  - ${NODE2}\n`)
})

test('takes groups, and refuses what contradicts itself', async () => {
  expect((await epo('--groups --all')).stderr).toBe('Only one of --groups or --all are allowed\n')
  expect((await epo(`--all ${NODE2}`)).stderr).toBe('Arguments in combination with --all are not allowed\n')
  const group = Object.values(goldenConfig().nodegroups).find(({ uuid }) =>
    Object.values(goldenConfig().nodes).some((node) => node.name === 'node1.gnt.example' && node.group === uuid),
  )
  const { stderr } = await epo(`--groups ${group?.name}`)
  expect(stderr).toContain('node1.gnt.example is the master node')
})
