// Checks what a node tells its metad: when an instance is installed, starts, moves and ends.
import * as fs from 'node:fs'
import * as path from 'node:path'
import type { FramedServer } from '../../../src/lib/net/json-socket'
import { silentLog } from '../../../src/lib/log'
import { METAD_FRAME_BYTES_MAX } from '../../../src/model/limits/metad'
import { instanceHandlers as calls } from '../../../src/node/handlers/instance'
import { instanceMigrationHandlers as migration } from '../../../src/node/handlers/instance-migration'
import { resumeMetad } from '../../../src/node/metadata'
import { serveCalls } from '../../../src/rpc/json-protocol'
import { metadHandlers } from '../../../src/rpc/metad/calls'
import type { MetadataDict } from '../../../src/rpc/node/dicts'
import { instanceDict } from '../../support/hypervisor'
import { type TestNode, testNode } from '../../support/node-context'

const nic = {
  ...{ uuid: 'nic-1', mac: '52:54:00:00:00:01', name: 'ganeti:communication:vm1.test', ip: '169.254.0.5' },
  nicparams: { mode: 'routed', link: 'communication_rt' },
}
const plain = instanceDict({ hypervisor: 'fake', hvparams: { migration_mode: 'live' }, osparams_private: { key: 'p' } })
const asking = { ...plain, nics: [nic] }

let node: TestNode
let received: string[]
let metad: FramedServer | undefined
beforeEach(() => {
  received = []
  node = testNode('node1.example.com')
  Object.assign(node.context.daemons, { ensure: startMetad })
})
afterEach(async () => {
  await metad?.close()
  metad = undefined
  node.remove()
})

async function startMetad(daemon: string, run: boolean): Promise<boolean> {
  received.push(`${daemon} ${run}`)
  fs.mkdirSync(node.paths.socketDir, { recursive: true })
  const note = (name: string) => path.join(node.paths.metadataDir, name)
  const hear = async (call: string, { name, osparams_private, osparams_secret }: MetadataDict) => {
    received.push(`${call} ${name} ${JSON.stringify({ osparams_private, osparams_secret })}`)
    fs.mkdirSync(node.paths.metadataDir, { recursive: true })
    fs.writeFileSync(note(name), '')
  }
  metad = await serveCalls(
    { path: node.paths.socket('metad'), maxFrame: METAD_FRAME_BYTES_MAX, log: silentLog },
    metadHandlers({
      echo: (text) => Promise.resolve(text),
      updateConfig: (instance) => hear('update', instance),
      gantryShow: (instance) => hear('show', instance),
      async gantryForget(name) {
        received.push(`forget ${name}`)
        fs.rmSync(note(name))
      },
    }),
  )
  return true
}

test('metad is started when the first instance asks, and is told what its guest may know', async () => {
  await calls.instance_start(node.context, plain, false, [])
  await calls.instance_shutdown(node.context, plain, 0, [])
  await calls.instance_metadata_modify(node.context, plain)
  expect(received).toEqual([])
  await calls.instance_metadata_modify(node.context, { ...asking, osparams_secret: { word: 's' } })
  expect(received).toEqual([
    'ganeti-metad true',
    'update vm1.test {"osparams_private":{"key":"p"},"osparams_secret":{"word":"s"}}',
  ])
  // What its scripts may know is not for the guest, once it is installed.
  await calls.instance_start(node.context, asking, false, [])
  const { osparams_private: _hidden, ...displayed } = asking
  await calls.instance_metadata_modify(node.context, displayed)
  expect(received.slice(2)).toEqual(['show vm1.test {}', 'show vm1.test {}'])
  await calls.instance_shutdown(node.context, asking, 0, [])
  expect(received.slice(4)).toEqual(['forget vm1.test'])
})

test('an instance that gave up communication is forgotten', async () => {
  await calls.instance_metadata_modify(node.context, asking)
  await calls.instance_metadata_modify(node.context, plain)
  expect(received.at(-1)).toBe('forget vm1.test')
})

test('an instance that moves is known where it runs', async () => {
  await migration.accept_instance(node.context, asking, '', '127.0.0.1')
  expect(received.at(-1)).toBe('show vm1.test {}')
  await migration.instance_finalize_migration_dst(node.context, asking, '', false)
  expect(received.at(-1)).toBe('forget vm1.test')
  await calls.instance_start(node.context, asking, false, [])
  await migration.instance_finalize_migration_src(node.context, asking, true, true)
  expect(received.at(-1)).toBe('forget vm1.test')
})

test('a metad that cannot be started keeps no instance from running, and what it has noted goes with the instance', async () => {
  const broken = {
    ...node.context,
    daemons: { ...node.context.daemons, ensure: () => Promise.reject(new Error('no parent')) },
  }
  await calls.instance_start(broken, asking, false, [])
  expect(await calls.instance_list(broken, ['fake'])).toEqual(['vm1.test'])
  await expect(calls.instance_metadata_modify(broken, asking)).rejects.toThrow('no parent')
  fs.mkdirSync(node.paths.metadataDir, { recursive: true })
  fs.writeFileSync(path.join(node.paths.metadataDir, 'vm1.test'), '')
  await calls.instance_shutdown(broken, asking, 0, [])
  expect(fs.readdirSync(node.paths.metadataDir)).toEqual([])
})

test('a node that starts anew has its metad again, if an instance asked before', async () => {
  await resumeMetad(node.context)
  expect(received).toEqual([])
  fs.mkdirSync(node.paths.metadataDir, { recursive: true })
  fs.writeFileSync(path.join(node.paths.metadataDir, 'vm1.test'), '')
  await resumeMetad(node.context)
  expect(received).toEqual(['ganeti-metad true'])
})
