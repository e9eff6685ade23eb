// TLS of migrations between our nodes. Both sides show the cluster's certificate, which all nodes have, and trust no other. A program of its
// own does it for QEMU (`migration-relay.ts`), which talks to it at a Unix socket.
import { once } from 'node:events'
import { within } from '../../../lib/clock'
import { accessible } from '../../../lib/files'
import { certificateProblem } from '../../../lib/tls'
import { QEMU_START_S } from '../../../model/limits/hypervisor'
import { CHOWN_S } from '../../../model/limits/node'
import type { MigrationSideName } from '../../../rpc/node/dicts'
import { ownProcess } from '../../own-process'
import { HypervisorFailure } from '../hypervisor'
import { chrootOf, userOf } from './launch'
import type { KvmMachines } from './machines'
import { relayProgram, type RelayReady, type RelaySpec } from './migration-relay'

/** Whether this node can use TLS for its migrations. */
export async function canEncrypt({ context }: KvmMachines): Promise<boolean> {
  const { files, paths, clock } = context
  const pem = await files.readFile(paths.serverCert, 'utf8').catch(() => undefined)
  return pem !== undefined && certificateProblem(paths.serverCert, pem, clock.now_ms()) === undefined
}

/** Starts the relay of one side. Returns the address for QEMU. */
export async function openRelay(
  machines: KvmMachines,
  name: string,
  side: MigrationSideName,
  address: string,
  port: number,
): Promise<string> {
  const { context, layout } = machines
  const { files, paths } = context
  const { command } = await machines.running(name, `Instance ${name} is not on this node`)
  await closeRelay(machines, name)
  await layout.createDirectories()
  const chroot = chrootOf(command)
  const folder = layout.relayFolder(name, chroot)
  await files.mkdir(layout.relayDir(), { recursive: true, mode: 0o700 })
  // The next attempt uses TLS, too, if this one fails.
  await files.writeFile(layout.relayFile(name), '', { mode: 0o600 })
  await files.mkdir(folder, { recursive: true, mode: 0o700 })
  // QEMU's user may enter the root of that QEMU, to get to the folder.
  if (chroot !== undefined) await files.chmod(chroot, 0o711)
  await give(machines, folder, userOf(command))
  // A QEMU that listens anew removes its former socket later.
  const socket = `qemu-${context.random.hex(4)}`
  const pid = await startRelay(machines, name, folder, { side, socket, address, port, certificate: paths.serverCert })
  await files.writeFile(layout.relayFile(name), String(pid), { mode: 0o600 })
  if (side === 'source') await give(machines, `${folder}/${socket}`, userOf(command))
  return `unix:${chroot === undefined ? folder : folder.slice(chroot.length)}/${socket}`
}

/** Whether this side of the instance's migration has a relay, which may have ended. */
export const hasRelay = ({ context, layout }: KvmMachines, name: string): Promise<boolean> =>
  accessible(context.files, layout.relayFile(name))

export async function closeRelay({ context, layout }: KvmMachines, name: string): Promise<void> {
  const pid = await ownProcess(context.files, layout.relayFile(name), [relayProgram, name, ''].join('\0'))
  if (pid !== undefined) context.processes.signal(pid, 'SIGKILL')
  await layout.removeRelay(name)
}

async function startRelay({ context, layout }: KvmMachines, name: string, folder: string, spec: RelaySpec) {
  const { files, processes, clock } = context
  const log = await files.open(layout.relayLog(name), 'w', 0o640)
  try {
    const child = processes.fork(relayProgram, [name, folder], {
      ...{ detached: true, env: {}, execArgv: [], stdio: ['ignore', log.fd, log.fd, 'ipc'] },
    })
    child.send(spec)
    const answered = Promise.race([once(child, 'message'), once(child, 'exit').then(() => undefined)])
    const [ready] = ((await within(clock, QEMU_START_S, answered)) ?? []) as [RelayReady?]
    child.unref()
    if (child.pid !== undefined && ready !== undefined && ready.problem === undefined) return child.pid
    child.kill('SIGKILL')
    throw new HypervisorFailure(
      `The other node cannot be reached with TLS: ${ready?.problem ?? `see ${layout.relayLog(name)}`}`,
    )
  } finally {
    await log.close()
  }
}

async function give({ context }: KvmMachines, file: string, user: string | undefined): Promise<void> {
  if (user === undefined) return
  const { code, output } = await context.run(['chown', user, file], { timeout_s: CHOWN_S })
  if (code !== 0) throw new HypervisorFailure(`${file} cannot be given to the user ${user}: ${output.trim()}`)
}
