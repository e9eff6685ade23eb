// Why an instance is in its state: for root's eyes, without marks of the master, and not on a node that it has left.
import * as fs from 'node:fs'
import { MARK } from '../../../src/model/marks'
import { instanceHandlers } from '../../../src/node/handlers/instance'
import { instanceMigrationHandlers } from '../../../src/node/handlers/instance-migration'
import { cleanReasons } from '../../../src/node/reasons'
import { instanceDict } from '../../support/hypervisor'
import { type TestNode, testNode } from '../../support/node-context'

let node: TestNode
beforeEach(() => void (node = testNode()))
afterEach(() => node.remove())

const instance = instanceDict({ hypervisor: 'fake', hvparams: { migration_mode: 'live' } })
const fileOf = (name: string): string => `${node.paths.instanceReasonDir}/${name}`
const theirs = [['gnt:client:gnt-instance', 'stop', 1]] as const

test('only root reads it, and it goes with the instance that moves away', async () => {
  await instanceHandlers.instance_shutdown(node.context, instance, 0, theirs)
  expect(fs.statSync(fileOf(instance.name)).mode & 0o777).toBe(0o600)
  await instanceMigrationHandlers.instance_finalize_migration_src(node.context, instance, false, true)
  expect(fs.existsSync(fileOf(instance.name))).toBe(true)
  await instanceMigrationHandlers.instance_finalize_migration_src(node.context, instance, true, true)
  expect(fs.existsSync(fileOf(instance.name))).toBe(false)
})

test('what an earlier version wrote loses its marks when the node daemon starts', async () => {
  const marks = Object.values(MARK).map((source) => [source, 'x', 1])
  node.put('/var/run/ganeti/instance-reason/marked', JSON.stringify([...marks, ...theirs]), 0o644)
  node.put('/var/run/ganeti/instance-reason/clean', JSON.stringify(theirs))
  node.put('/var/run/ganeti/instance-reason/torn', '[["gantry:user')
  await cleanReasons(node.context)
  expect(JSON.parse(fs.readFileSync(fileOf('marked'), 'utf8'))).toEqual(theirs)
  expect(fs.statSync(fileOf('marked')).mode & 0o777).toBe(0o600)
  expect(JSON.parse(fs.readFileSync(fileOf('clean'), 'utf8'))).toEqual(theirs)
  expect(fs.existsSync(fileOf('torn'))).toBe(false)
})
