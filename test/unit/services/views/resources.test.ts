// Views of what is no object of the configuration: tags and storage.
import { systemClock } from '../../../../src/lib/clock'
import type { NodeResult } from '../../../../src/rpc/node/client'
import { tagUses } from '../../../../src/services/views/tags-view'
import { storageOf } from '../../../../src/services/views/storage-view'
import type { MasterContext } from '../../../../src/services/master-context'
import { EMPTY_GANTRY } from '../../../../src/config/upgrade'
import { type GantryParts, localGantry } from '../../../../src/services/gantry'
import { goldenConfig } from '../../../support/golden-query'

test('each tag is told once, with everything that has it', () => {
  const config = goldenConfig()
  const [instance] = Object.values(config.instances)
  const [node] = Object.values(config.nodes)
  if (instance === undefined || node === undefined) throw new Error('the recorded cluster has instances and nodes')
  const tagged = {
    ...config,
    cluster: { ...config.cluster, tags: ['b'] },
    instances: { [instance.uuid]: { ...instance, tags: ['a10', 'b'] } },
    nodes: { [node.uuid]: { ...node, tags: ['a2'] } },
    nodegroups: {},
    networks: {},
  }
  expect(tagUses(tagged)).toEqual([
    { tag: 'a2', objects: [{ kind: 'node', name: node.name }] },
    { tag: 'a10', objects: [{ kind: 'instance', name: instance.name }] },
    {
      tag: 'b',
      objects: [
        { kind: 'cluster', name: config.cluster.cluster_name },
        { kind: 'instance', name: instance.name },
      ],
    },
  ])
})

const answering = (answers: Readonly<Record<string, NodeResult<unknown[][]>>>) => {
  const requested: unknown[] = []
  const ask = (_node: unknown, _call: string, args: unknown[]) => {
    requested.push(args.slice(0, 2))
    return Promise.resolve(answers[String(args[0])] ?? { ok: true, payload: [] })
  }
  return { asked: requested, questions: { ask } as unknown as MasterContext['questions'] }
}

test('a node is asked for the storage of enabled templates, and what it does not tell is said with the reason', async () => {
  const config = goldenConfig()
  const enabled_disk_templates = ['plain', 'file'] as const
  const cluster = { ...config.cluster, enabled_disk_templates, file_storage_dir: '/srv/files' }
  const [node] = Object.values(config.nodes)
  const { asked: requested, questions } = answering({
    file: { ok: true, payload: [['/srv/files', 100, 40, 60, true]] },
    'lvm-vg': { ok: false, error: 'no volume group' } as NodeResult<unknown[][]>,
    'lvm-pv': {
      ok: true,
      payload: [
        ['/dev/sdb1', 'odd', null, 5, false],
        ['/dev/sda1', 1, 1, 0, true],
      ],
    },
  })
  const reported = await storageOf({ questions }, { ...config, cluster }, node?.name ?? '')
  expect(requested).toEqual([
    ['file', [['/srv/files']]],
    ['lvm-pv', []],
    ['lvm-vg', []],
  ])
  expect(reported).toEqual([
    {
      ...{ type: 'file', problem: null },
      units: [{ name: '/srv/files', size: 100, used: 40, free: 60, allocatable: true }],
    },
    {
      ...{ type: 'lvm-pv', problem: null },
      units: [
        { name: '/dev/sda1', size: 1, used: 1, free: 0, allocatable: true },
        { name: '/dev/sdb1', size: null, used: null, free: 5, allocatable: false },
      ],
    },
    { type: 'lvm-vg', units: [], problem: 'no volume group' },
  ])
  expect(() => storageOf({ questions }, config, 'no.such.node')).toThrow("Node 'no.such.node' not known")
})

test('what belongs to everybody is neither told to nor stopped by a token that sees only some objects', async () => {
  const token = {
    ...{ id: 't', user: 'u', name: 't', created: 0, expires: null },
    ...{ permissions: ['*'], tags: ['mine'], groups: [] },
  }
  const documents = {
    current: () => ({ ...EMPTY_GANTRY, sections: { tokens: { t: token } } }),
    onChange: () => () => undefined,
  }
  const done: unknown[] = []
  const context = { clock: systemClock, queue: { setDrained: async (flag: boolean) => void done.push(flag) } }
  const parts = {
    ...{ documents, pause: { set: async (until: number | null) => void done.push(until) } },
    watcher: { info: () => ({ paused_until: 5, next_run: null, groups: [] }) },
  }
  const gantry = localGantry(context as unknown as MasterContext, parts as unknown as GantryParts)
  const scoped = { user: 'u', token: 't', permissions: ['*'] }
  for (const ask of [
    () => gantry.users(scoped),
    () => gantry.pauseWatcher(scoped, 5),
    () => gantry.drainQueue(scoped, true),
  ])
    await expect(ask()).rejects.toMatchObject({ code: 'forbidden' })
  expect(done).toEqual([])
  const whole = { ...scoped, token: null }
  expect(await gantry.users(whole)).toBe(null)
  expect(await gantry.pauseWatcher(whole, 5)).toMatchObject({ paused_until: 5 })
  await gantry.drainQueue(whole, true)
  expect(done).toEqual([5, true])
})
