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
import { nodeHandlers } from './node'
import { osHandlers } from './os'
import { sshKeyHandlers } from './ssh-keys'
import { transferHandlers } from './transfers'
import { volumeHandlers } from './volumes'

/** Calls whose features are not built; the list shrinks to nothing. */
const notYet = [
  'blockdev_addchildren',
  'blockdev_removechildren',
  'drbd_attach_net',
  'drbd_disconnect_net',
  'drbd_helper',
  'drbd_needs_activation',
  'drbd_wait_sync',
] as const satisfies readonly CallName[]

type ReadyCall = Exclude<CallName, (typeof notYet)[number]>

const handlers = {
  ...blockdevHandlers,
  ...configReplicaHandlers,
  ...fileHandlers,
  ...fileStorageHandlers,
  ...instanceHandlers,
  ...instanceHotplugHandlers,
  ...instanceMigrationHandlers,
  ...membershipHandlers,
  ...nodeHandlers,
  ...osHandlers,
  ...sshKeyHandlers,
  ...transferHandlers,
  ...volumeHandlers,
} satisfies Pick<Handlers, ReadyCall>

export const isReady = (name: CallName): name is ReadyCall => Object.hasOwn(handlers, name)

export const notYetText = (name: CallName): string => `The node call '${name}' is not available in this version`

export function runHandler<C extends ReadyCall>(
  context: NodeContext,
  name: C,
  args: ArgsOf<C>,
): ResultOf<C> | Promise<ResultOf<C>> {
  const all: Pick<Handlers, ReadyCall> = handlers
  const handler: Handler<C> = all[name]
  return handler(context, ...args)
}
