// How to reach an instance's screen or serial line, as Ganeti's console object.
import type { ConsoleInfo, ConsoleRequest } from '../../../rpc/node/dicts'
import type { HypervisorContext } from '../hypervisor'
import { VNC_BASE_PORT } from './command-display'
import { bridgeProgram } from './console-bridge'
import type { KvmLayout } from './layout'
import { KvmParams } from './params'
import { isObject } from '../../../lib/shapes/shape'

const CONSOLE_USER = 'root'
const SSH_PORT = 22

export function consoleInfo(request: ConsoleRequest, layout: KvmLayout, context: HypervisorContext): ConsoleInfo {
  const { instance, node, group } = request
  const params = new KvmParams(request.hvParams)
  const port = instance.network_port ?? 0
  if (params.flag('serial_console'))
    return {
      instance: instance.name,
      kind: 'ssh',
      host: String(node.name),
      port: sshPort(node) ?? sshPort(group) ?? SSH_PORT,
      user: CONSOLE_USER,
      command: bridgeCommand(layout.socket(instance.name, 'serial'), layout.socket(instance.name, 'qmp')),
    }
  const virtual = context.paths.root !== ''
  const vnc = params.text('vnc_bind_address')
  if (vnc !== '' && port > VNC_BASE_PORT)
    return {
      instance: instance.name,
      kind: 'vnc',
      host: virtual ? context.bindAddress : vnc,
      port,
      display: port - VNC_BASE_PORT,
    }
  const spice = params.text('spice_bind')
  if (spice !== '') return { instance: instance.name, kind: 'spice', host: virtual ? context.bindAddress : spice, port }
  return { instance: instance.name, kind: 'msg', message: `No serial shell for instance ${instance.name}` }
}

/** Runs on the instance's node; needs only what this program itself needs. */
const bridgeCommand = (serialSocket: string, qmpSocket: string): string[] => [
  process.execPath,
  bridgeProgram,
  serialSocket,
  qmpSocket,
]

function sshPort({ ndparams }: ConsoleRequest['group']): number | undefined {
  const port = isObject(ndparams) ? ndparams['ssh_port'] : undefined
  return typeof port === 'number' ? port : undefined
}
