// Every node call and the function that serves it. A call of the table that is missing here does not compile.
import type { ArgsOf, CallName, ResultOf } from '../../rpc/node/calls'
import type { Handler, Handlers, NodeContext } from '../context'
import { blockdevHandlers } from './blockdev'
import { configReplicaHandlers } from './config-replica'
import { fileHandlers } from './files'
import { fileStorageHandlers } from './file-storage'
import { instanceHandlers } from './instance'
import { instanceHotplugHandlers } from './instance-hotplug'
import { instanceMigrationHandlers } from './instance-migration'
import { membershipHandlers } from './membership'
import { mirrorHandlers } from './mirrors'
import { nodeHandlers } from './node'
import { osHandlers } from './os'
import { sshKeyHandlers } from './ssh-keys'
import { transferHandlers } from './transfers'
import { volumeHandlers } from './volumes'

const handlers = {
  ...blockdevHandlers,
  ...configReplicaHandlers,
  ...fileHandlers,
  ...fileStorageHandlers,
  ...instanceHandlers,
  ...instanceHotplugHandlers,
  ...instanceMigrationHandlers,
  ...membershipHandlers,
  ...mirrorHandlers,
  ...nodeHandlers,
  ...osHandlers,
  ...sshKeyHandlers,
  ...transferHandlers,
  ...volumeHandlers,
} satisfies Handlers

export function runHandler<C extends CallName>(
  context: NodeContext,
  name: C,
  args: ArgsOf<C>,
): ResultOf<C> | Promise<ResultOf<C>> {
  const all: Handlers = handlers
  const handler: Handler<C> = all[name]
  return handler(context, ...args)
}
