// Allocators that are scripts of an administrator, in every mode of their protocol and with every fault that a script can have: what
// is wrong is said, and nothing stays locked, reserved or running.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { text } from 'node:stream/consumers'
import type { WireOpCode } from '../../src/rpc/luxi/calls'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'
import { NODES, eventually, withWconfd } from '../support/faults'

let cluster: EmbeddedCluster
/** The path of the allocator script. */
let script: string
let folder: string
const [node1 = '', node2 = '', node3 = ''] = NODES

beforeAll(async () => {
  cluster = await startCluster(['--hypervisor', 'fake'])
  folder = path.join(cluster.root, node1, 'usr/lib/ganeti/iallocators')
  fs.mkdirSync(folder, { recursive: true })
  script = path.join(folder, 'mine')
  for (const name of ['web', 'db']) expect(await cluster.run({ ...CREATE, instance_name: `${name}.test`, pnode: node1 })).toMatchObject({ status: 'success' }) // prettier-ignore
  expect(await cluster.gnt('group', 'add', 'far')).toMatchObject({ code: 0 })
  expect(await cluster.gnt('group', 'assign-nodes', '--force', 'far', node3)).toMatchObject({ code: 0 })
})
afterAll(() => cluster.remove())
afterEach(() => nothingIsLeft())

const CREATE = {
  ...{ OP_ID: 'OP_INSTANCE_CREATE', mode: 'create', disk_template: 'sharedfile', os_type: 'gantry-tiny' },
  ...{ disks: [{ size: 4 }], nics: [], instance_name: 'new.test', start: false, beparams: { memory: 128 } },
}
const SPEC = { disk_template: 'sharedfile', memory_mib: 128, vcpus: 1, disks_mib: [4] }
const iallocator = 'mine'

/** Each mode of the protocol: an opcode that asks, and a good answer. */
const MODES: Readonly<Record<string, readonly [op: WireOpCode, answer: unknown]>> = {
  allocate: [{ ...CREATE, dry_run: true, iallocator }, [node2]],
  'multi-allocate': [
    { OP_ID: 'OP_INSTANCE_MULTI_ALLOC', iallocator, dry_run: true, instances: [{ ...CREATE }] },
    [[['new.test', [node2]]], []],
  ],
  relocate: [{ OP_ID: 'OP_INSTANCE_FAILOVER', instance_name: 'web.test', iallocator }, [node2]],
  'node-evacuate': [{ OP_ID: 'OP_NODE_EVACUATE', node_name: node1, mode: 'primary-only', iallocator }, [[], [], []]],
  'change-group': [{ OP_ID: 'OP_INSTANCE_CHANGE_GROUP', instance_name: 'web.test', iallocator }, [[], [], []]],
  balance: [{ OP_ID: 'OP_CLUSTER_BALANCE', iallocator }, [['db.test', [node1], [node2]]]],
  capacity: [{ OP_ID: 'OP_CLUSTER_CAPACITY', iallocator, spec: SPEC, groups: ['far'] }, [1, [[node3]]]],
}

/** Writes a script that saves its question in a file beside it. */
function write(body: string): void {
  fs.writeFileSync(script, `#!/bin/sh\ncp "$1" ${script}.asked\n${body}\n`, { mode: 0o755 })
}
const answering = (result: unknown, info = 'well done', success = true) =>
  write(`cat <<'END'\n${JSON.stringify({ success, info, result })}\nEND`)
const requested = (): { request: { type: string } } =>
  JSON.parse(fs.readFileSync(`${script}.asked`, 'utf8')) as { request: { type: string } }

async function nothingIsLeft(): Promise<void> {
  await eventually('every lock is free', async () => {
    const { data } = await cluster.master.query('lock', ['name', 'owner', 'pending'], null)
    return data.every(([, owner, pending]) => owner?.[1] === null && String(pending?.[1] ?? '') === '')
  })
  // A node learns from the end of the connection that nobody waits for its script: a moment after the locks are free.
  const questions = () => fs.readdirSync(path.join(cluster.root, node1, 'var/run/ganeti'))
  await eventually('no question is left on the node', () =>
    Promise.resolve(!questions().some((name) => name.startsWith('iallocator.'))),
  )
  const { instances } = await withWconfd(cluster, (calls) => calls.readConfig())
  expect(Object.values(instances).map(({ name }) => name).sort()).toEqual(['db.test', 'web.test']) // prettier-ignore
}

test.each(Object.entries(MODES))('%s: a script that answers well is obeyed', async (mode, [op, answer]) => {
  answering(answer)
  const { status, result, log } = await cluster.run(op)
  expect({ status, result, log }).toMatchObject({ status: 'success' })
  expect(requested().request.type).toBe(mode)
})

const FAULTS: Readonly<Record<string, readonly [body: string, error: RegExp]>> = {
  'prints nonsense': ['echo nonsense', /Can't parse iallocator results: .*nonsense/],
  'prints nothing': ['true', /Can't parse iallocator results: Unexpected end/],
  'says no': [
    `echo '{"success": false, "info": "the moon is wrong", "result": []}'`,
    /using iallocator 'mine': the moon is wrong$/,
  ],
  'has another result': [
    `echo '{"success": true, "info": "", "result": {"a": 1}}'`,
    /iallocator returned invalid result: /,
  ],
  'ends with 1': [
    'echo broken >&2; exit 1',
    /iallocator module 'mine' failed: exited with exit code 1, output 'broken'/,
  ],
  'prints 100 MB': [
    'yes nonsense | head -c 100000000',
    /failed: terminated because it printed more than 33554432 bytes/,
  ],
}

for (const [fault, [body, error]] of Object.entries(FAULTS))
  test(`a script that ${fault} is no allocator in any mode`, async () => {
    write(body)
    for (const [mode, [op]] of Object.entries(MODES)) {
      const { status, result } = await cluster.run(op)
      const said = JSON.stringify(result)
      expect({ mode, status, said }).toEqual({ mode, status: 'error', said: expect.stringMatching(error.source.replace(/\$$/, '')) }) // prettier-ignore
      expect(said.length).toBeLessThan(5000)
    }
  })

test('a script that there is not is named', async () => {
  const { result } = await cluster.run({ ...CREATE, iallocator: 'none' })
  expect(JSON.stringify(result)).toContain("iallocator module 'none' not found in the search path")
})

test('a script that hangs ends with its job, and holds no locks from then on', async () => {
  const pipe = `${script}.witness`
  execFileSync('mkfifo', [pipe])
  write(`exec 9> ${pipe}; echo begun >&9; sleep 1000`)
  const op = { OP_ID: 'OP_INSTANCE_CHANGE_GROUP', instance_name: 'web.test', iallocator, reason: [] }
  const job = await cluster.master.submitJob([op])
  const witness = fs.createReadStream(pipe)
  await once(witness, 'readable')
  expect(await cluster.master.cancelJob(job, true)).toMatchObject([true, expect.any(String)])
  // All that have it open are gone.
  expect(await text(witness)).toBe('begun\n')
})

test('default allocators are asked in order, and nodes that are named win', async () => {
  write('exit 1')
  const no = JSON.stringify({ success: false, info: 'the moon is wrong', result: [] })
  fs.writeFileSync(path.join(folder, 'other'), `#!/bin/sh\necho '${no}'\n`, { mode: 0o755 })
  const list = ['cluster', 'modify', '--default-iallocators', 'allocate=other:mine:hail']
  expect(await cluster.gnt(...list)).toMatchObject({ code: 0, stderr: '' })
  const rehearsal = { ...CREATE, dry_run: true }
  const rows = await cluster.master.queryNodes([], ['name', 'uuid'], false)
  // As in Ganeti a rehearsal answers with the uuids of the chosen nodes.
  const uuids = new Map(rows.map(([name, uuid]) => [name, uuid]))
  const { status, result, log } = await cluster.run(rehearsal)
  expect(status).toBe('success')
  expect([...uuids.values()]).toEqual(expect.arrayContaining(result as unknown[]))
  expect(result).toHaveLength(1)
  expect(log.slice(0, 2)).toEqual([
    expect.stringMatching(/ WARNING: Allocator 'other' found nothing: .*the moon is wrong; asking 'mine'$/),
    expect.stringMatching(/ WARNING: Allocator 'mine' found nothing: .*exit code 1.*; asking 'hail'$/),
  ])
  fs.rmSync(`${script}.asked`)
  expect(await cluster.run({ ...rehearsal, pnode: node2 })).toMatchObject({
    status: 'success',
    result: [uuids.get(node2)],
  })
  expect(fs.existsSync(`${script}.asked`)).toBe(false)
})
