// What nodes answer to the two questions how far a migration is.
import type { NodeContext } from '../../../../src/node/context'
import { instanceMigrationHandlers } from '../../../../src/node/handlers/instance-migration'
import type { InstanceDict } from '../../../../src/rpc/node/dicts'

test("a source that has switched tells our master, and tells Ganeti's only fields that it knows", async () => {
  const status = { status: 'completed', transferred_ram: 1, total_ram: 1 }
  const hypervisor = { migrationStatus: () => Promise.resolve({ ...status, switched: true }) }
  const context = { hypervisor: () => hypervisor } as unknown as NodeContext
  const instance = { name: 'vm1', hypervisor: 'kvm' } as InstanceDict
  const { instance_get_migration_status: forAll, gantry_migration_status: forOurs } = instanceMigrationHandlers
  expect(await forAll(context, instance)).toEqual(status)
  expect(await forOurs(context, instance)).toEqual({ ...status, switched: true })
})
