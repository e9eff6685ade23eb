// The consoles of a running QEMU, and how to log in to its screen. The process's command line tells, because the
// instance's parameters may have changed since its start.
import * as path from 'node:path'
import { DirectoryNews } from '../../../lib/file/directory-news'
import { CONSOLE_LOOK_S, CONSOLE_SETTLE_S } from '../../../model/limits/consoles'
import { QMP_LOOK_S } from '../../../model/limits/hypervisor'
import { type ConsoleKind, type ConsolePlace, HypervisorFailure, type ScreenLogin } from '../hypervisor'
import type { HypervisorConsoles } from '../hypervisor'
import { VNC_BASE_PORT } from './command-display'
import { optionAfter } from './launch'
import { hasClient } from './line-client'
import type { KvmMachines } from './machines'
import { KvmParams } from './params'
import { screenPassword } from './screen-password'

export function kvmConsoles(machines: KvmMachines): HypervisorConsoles {
  const { context, layout } = machines
  return {
    async find(name, kind) {
      const process = await machines.find(name)
      return process && placeOf(machines, name, process.command, kind)
    },
    // QEMU's monitor would tell too, but a running start needs it, and few clients may wait for it.
    async isTaken(name) {
      const sockets = await context.files.readFile('/proc/net/unix', 'utf8')
      return hasClient(sockets, layout.socket(name, 'serial'))
    },
    async resume(name) {
      await machines.qmp(name, async (qmp) => {
        if ((await qmp.status(QMP_LOOK_S)) === 'prelaunch') await qmp.run('cont')
      })
    },
    watch(name, changed) {
      const own = (['serial', 'qmp'] as const).map((kind) => path.basename(layout.socket(name, kind)))
      return new DirectoryNews({
        ...{ files: context.files, clock: context.clock, directory: layout.controlDir() },
        ...{ settle_s: CONSOLE_SETTLE_S, look_s: CONSOLE_LOOK_S },
        concerns: (entry) => own.includes(entry),
        look: changed,
      })
    },
  }
}

function placeOf(machines: KvmMachines, name: string, command: readonly string[], kind: ConsoleKind): ConsolePlace {
  if (kind === 'serial') {
    if (optionAfter(command, '-serial')?.startsWith('unix:') !== true)
      throw new HypervisorFailure(`${name} was started without a serial console: set serial_console, and restart it`)
    return { kind, socket: machines.layout.socket(name, 'serial') }
  }
  const at = screenAddress(optionAfter(command, '-vnc'))
  if (at === undefined)
    throw new HypervisorFailure(`${name} was started without a VNC screen: set vnc_bind_address, and restart it`)
  return { kind, at, login: loginOf(machines, name, command) }
}

/** Reads `127.0.0.1:3,password=on`, `[::1]:3`, `:3` or `unix:/run/vm1.vnc`. */
function screenAddress(
  option: string | undefined,
): { readonly path: string } | { readonly host: string; readonly port: number } | undefined {
  // A doubled comma is a comma in the path.
  const place = option?.replace(/,,/g, '\0').split(',')[0]?.replaceAll('\0', ',')
  if (place === undefined) return undefined
  if (place.startsWith('unix:')) return { path: place.slice('unix:'.length) }
  const [, host = '', display] = /^(.*):(\d+)$/.exec(place) ?? []
  if (display === undefined) return undefined
  return { host: host.replace(/^\[(.*)\]$/, '$1') || '127.0.0.1', port: VNC_BASE_PORT + Number(display) }
}

function loginOf(machines: KvmMachines, name: string, command: readonly string[]): ScreenLogin {
  const { files } = machines.context
  return {
    async password() {
      const { hvparams } = await machines.runtime(name)
      const file = new KvmParams(hvparams).text('vnc_password_file')
      if (file === '') throw new HypervisorFailure(`the screen of ${name} asks for a password, and no file has it`)
      return screenPassword(machines.context, file)
    },
    async certificate() {
      const objects = command.filter((word, at) => command[at - 1] === '-object' && word.startsWith('tls-creds-x509,'))
      const folder = /,dir=((?:[^,]|,,)*)/.exec(objects[0] ?? '')?.[1]?.replaceAll(',,', ',')
      if (folder === undefined || !/,verify-peer=(yes|on)/.test(objects[0] ?? '')) return {}
      const [key, cert] = [path.join(folder, 'client-key.pem'), path.join(folder, 'client-cert.pem')]
      if (!files.existsSync(key) || !files.existsSync(cert))
        throw new HypervisorFailure(
          `the screen of ${name} wants a certificate of its client (vnc_x509_verify): put ${key} and ${cert} on its node`,
        )
      return { key: await files.readFile(key), cert: await files.readFile(cert) }
    },
  }
}
