// The disk for cloud-init through the calls of a node: what asks for it, what is in it, and how long its secrets live.
import * as fs from 'node:fs'
import { instanceHandlers as calls } from '../../../src/node/handlers/instance'
import { osHandlers } from '../../../src/node/handlers/os'
import type { Hypervisor } from '../../../src/node/hypervisor/hypervisor'
import type { InstanceDict } from '../../../src/rpc/node/dicts'
import { instanceDict } from '../../support/hypervisor'
import { filesOfIso } from '../../support/iso-files'
import { type TestNode, testNode } from '../../support/node-context'

let node: TestNode
/** What the hypervisor was given at each start. */
let seeds: (Uint8Array | undefined)[]
let startFails: boolean

beforeEach(() => {
  seeds = []
  startFails = false
  const fake = (real: Hypervisor): Hypervisor => ({
    ...real,
    start(instance, disks, paused, seed) {
      if (startFails) return Promise.reject(new Error('no memory'))
      seeds.push(seed)
      return real.start(instance, disks, paused)
    },
  })
  const done = { code: 0, signal: null, stdout: '', stderr: '', output: '', timedOut: false }
  node = testNode('node1.example.com', { run: () => Promise.resolve(done) })
  const { hypervisor } = node.context
  node.context = { ...node.context, hypervisor: (name) => fake(hypervisor(name)) }
  putOs('cloud', 'cloud_init\nuser_data\npassword_hash\n')
  putOs('plain', 'filesystem\n')
})
afterEach(() => node.remove())

function putOs(name: string, parameters: string): void {
  const directory = `/srv/ganeti/os/${name}`
  node.put(`${directory}/ganeti_api_version`, '20\n')
  node.put(`${directory}/parameters.list`, parameters)
  for (const script of ['create', 'import', 'export', 'rename', 'verify'])
    node.put(`${directory}/${script}`, '#!/bin/sh\n', 0o755)
}

const instance = (overrides: Partial<InstanceDict> = {}) =>
  instanceDict({ hypervisor: 'fake', hvparams: { migration_mode: 'live' }, os: 'cloud', ...overrides })
const start = (dict: InstanceDict) => calls.instance_start(node.context, dict, false, [])
const stop = (dict: InstanceDict) => calls.instance_shutdown(node.context, dict, 0, [])
const install = (dict: InstanceDict) => osHandlers.instance_os_add(node.context, dict, false, 0)
const lastSeed = (): Record<string, string> => {
  const seed = seeds.at(-1)
  if (seed === undefined) throw new Error('no seed')
  const { label, files } = filesOfIso(seed)
  expect(label).toBe('cidata')
  return files
}
const secretsDirectory = () => node.paths.local('/var/run/ganeti/cloud-init')
const HASH = `$6$salt$${'x'.repeat(86)}`

test('an OS that declares cloud_init has a seed, any other one only if its parameters say so', async () => {
  const seeded = async (overrides: Partial<InstanceDict>) => {
    const dict = instance(overrides)
    await start(dict)
    await stop(dict)
    return seeds.at(-1) !== undefined
  }
  expect(await seeded({})).toBe(true)
  expect(await seeded({ os: 'cloud', osparams: { cloud_init: 'no' } })).toBe(false)
  expect(await seeded({ os: 'plain' })).toBe(false)
  expect(await seeded({ os: 'gone' })).toBe(false)
  expect(await seeded({ os: '', osparams: { cloud_init: 'yes' } })).toBe(true)
})

test('each start makes the seed from the name, NICs and parameters of that moment', async () => {
  const first = instance()
  await start(first)
  expect(Object.keys(lastSeed())).toEqual(['meta-data', 'network-config', 'user-data'])
  expect(lastSeed()['meta-data']).toContain('"vm1.test"')
  await stop(first)
  await start(instance({ name: 'vm2.test', nics: [{ uuid: 'u', mac: 'aa:00:00:00:00:01', nicparams: {} }] }))
  expect(lastSeed()['meta-data']).toContain('"vm2.test"')
  expect(lastSeed()['network-config']).toContain('aa:00:00:00:00:01')
})

test('secret parameters are in the seed of the first start after an installation only', async () => {
  const dict = instance()
  await install({ ...dict, osparams_private: { password_hash: HASH } })
  const [file = ''] = fs.readdirSync(secretsDirectory())
  expect(fs.statSync(`${secretsDirectory()}/${file}`).mode & 0o777).toBe(0o600)
  startFails = true
  await expect(start(dict)).rejects.toThrow('no memory')
  startFails = false
  await start(dict)
  expect(lastSeed()['user-data']).toContain(HASH)
  expect(fs.readdirSync(secretsDirectory())).toEqual([])
  await stop(dict)
  await start(dict)
  expect(lastSeed()['user-data']).not.toContain(HASH)
})

test('secrets of an instance that is never started go with it, and an OS without cloud-init leaves none', async () => {
  await install(instance({ os: 'plain', osparams_private: { password_hash: HASH } }))
  expect(fs.existsSync(secretsDirectory())).toBe(false)
  await install(instance({ osparams_private: { password_hash: HASH } }))
  expect(fs.readdirSync(secretsDirectory())).toHaveLength(1)
  await stop(instance())
  expect(fs.readdirSync(secretsDirectory())).toEqual([])
})

test('values that cloud-init would not understand are refused by name before anything is made', async () => {
  const validate = (os: string, parameters: Record<string, string>) =>
    osHandlers.os_validate(node.context, true, os, ['parameters'], parameters, false)
  expect(await validate('cloud', { password_hash: HASH })).toBe(true)
  await expect(validate('cloud', { password_hash: 'geheim', cloud_init: 'perhaps' })).rejects.toThrow(
    /^OS 'cloud': OS parameter cloud_init must be yes or no; OS parameter password_hash must be a SHA-512 /,
  )
  const userData = (lines: string) => validate('cloud', { user_data: `#cloud-config\n${lines}` })
  expect(await userData('')).toBe(true)
  expect(await userData('packages: [nginx]\n')).toBe(true)
  await expect(userData('packages: [nginx]\nsecret: "hunter2\n')).rejects.toThrow(
    /^OS 'cloud': OS parameter user_data is no YAML \(\w+ in line [34]\)$/,
  )
  await expect(userData('- nginx\n')).rejects.toThrow('user_data must have keys and values below #cloud-config')
  expect(await validate('plain', { filesystem: 'ext4' })).toBe(true)
})
