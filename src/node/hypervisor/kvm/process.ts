// QEMU processes of this node: starts one, finds it again, ends it. They are separate daemons, so that instances
// survive a restart of the node daemon.
import type { Clock } from '../../../lib/clock'
import { errorCode } from '../../../lib/disk'
import { readEnd } from '../../../lib/file/read-bounded'
import type { Paths } from '../../../lib/paths'
import { QEMU_END_S, QEMU_LOG_BYTES_TOLD, QEMU_START_S } from '../../../model/limits/hypervisor'
import { HypervisorFailure } from '../hypervisor'
import type { Host } from './host'
import type { KvmLayout } from './layout'
import { memoryOf, optionAfter } from './launch'
import { NonQemuPids } from './non-qemu-pids'

export interface QemuProcess {
  readonly pid: number
  readonly name: string
  readonly uuid: string
  readonly command: readonly string[]
}

/**
 * QEMU's `-daemonize` returns when the machine is set up. If it fails, the reason is in its log file (`-D`), where QEMU
 * writes as soon as it has read its options. QEMU empties that file when it opens it, but may fail earlier. So we empty
 * it here, and its content belongs to this start.
 */
export async function startQemu({ files, run }: Host, command: readonly string[], logFile: string): Promise<void> {
  await files.rm(logFile, { force: true })
  const result = await run(command, { timeout_s: QEMU_START_S, cwd: '/' })
  if (result.code === 0) return
  const log = await readEnd(files, logFile, QEMU_LOG_BYTES_TOLD).catch(() => '')
  const reason = result.timedOut ? `no answer within ${QEMU_START_S} s` : `exited with exit code ${result.code}`
  throw new HypervisorFailure(`QEMU did not start: ${reason}: ${(result.output + log).trim()}`)
}

/**
 * The instance's process. A PID file counts only if its process exists and is really this QEMU. A QEMU that ends
 * removes its PID file first and its sockets later, and one that begins writes it later. So we also look for it without
 * the file, or its successor would lose the sockets.
 */
export async function findProcess(layout: KvmLayout, name: string): Promise<QemuProcess | undefined> {
  const pid = await readPid(layout, name)
  const found = pid === undefined ? undefined : await describe(pid, layout)
  return found?.name === name ? found : (await scan(layout)).find((process) => process.name === name)
}

/** Undefined without a file; 0 if the file has no number. */
async function readPid(layout: KvmLayout, name: string): Promise<number | undefined> {
  const text = await layout.host.files.readFile(layout.pidFile(name), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  return /^\d+\s*$/.test(text) ? Number(text) : 0
}

/** All running instances of this node, even if a PID file was lost: then it is written again. */
export async function allProcesses(layout: KvmLayout): Promise<QemuProcess[]> {
  const found = await scan(layout)
  for (const process of found) await mendPidFile(layout, process)
  return found
}

/** An ending process has removed its file, and its successor may have written a new one since. */
export async function mendPidFile(layout: KvmLayout, { name, pid }: QemuProcess): Promise<void> {
  const named = await readPid(layout, name)
  if (named === pid) return
  const other = named === undefined ? undefined : await describe(named, layout)
  if (other?.name === name || !(await describe(pid, layout))) return
  const write = layout.host.files.writeFile(layout.pidFile(name), `${pid}\n`, {
    flag: named === undefined ? 'wx' : 'w',
  })
  await write.catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error
  })
}

/** One per node. A process that is not one of our instances may belong to another node. */
const strangersOf = new WeakMap<Paths, NonQemuPids>()

async function scan(layout: KvmLayout): Promise<QemuProcess[]> {
  const { files, paths, clock } = layout.host
  const strangers = strangersOf.get(paths) ?? new NonQemuPids(clock)
  strangersOf.set(paths, strangers)
  for (const name of await files.readdir(layout.pidDir()).catch(() => []))
    strangers.forget((await readPid(layout, name)) ?? 0)
  const pids = (await files.readdir('/proc')).filter((entry) => /^\d+$/.test(entry)).map(Number)
  const look = async (pid: number) => {
    const found = await describe(pid, layout)
    if (found === undefined) strangers.note(pid)
    return found
  }
  return (await Promise.all(strangers.unknownOf(pids).map(look))).filter((entry) => entry !== undefined)
}

/** MiB and virtual CPUs at the process's start. */
export function startedWith(process: QemuProcess): { memory: number; vcpus: number } {
  return { memory: memoryOf(process.command), vcpus: Number.parseInt(optionAfter(process.command, '-smp') ?? '1', 10) }
}

/**
 * Kills the instance's process and waits until it is gone. A QEMU that begins is two processes, and the first one's end
 * does not end the second. So it goes on until none is left.
 */
export async function killQemu(process: QemuProcess, layout: KvmLayout, clock: Clock): Promise<void> {
  let next: QemuProcess | undefined = process
  while (next) {
    await killOne(next, layout, clock)
    next = await findProcess(layout, process.name)
  }
}

async function killOne({ pid, name }: QemuProcess, layout: KvmLayout, clock: Clock): Promise<void> {
  const { processes } = layout.host
  // It may have ended since it was found, and another process may have its number.
  if (!(await describe(pid, layout))) return
  processes.signal(pid, 'SIGTERM')
  if (await waitGone(pid, layout, clock, 1)) return
  processes.signal(pid, 'SIGKILL')
  if (await waitGone(pid, layout, clock, QEMU_END_S)) return
  throw new HypervisorFailure(`Process ${pid} of instance ${name} did not end on SIGKILL`)
}

export async function waitGone(pid: number, layout: KvmLayout, clock: Clock, timeout_s: number) {
  const deadline = clock.monotonic_ms() + timeout_s * 1000
  for (let pause_ms = 5; ; pause_ms = Math.min(100, pause_ms * 2)) {
    if (!(await describe(pid, layout))) return true
    if (clock.monotonic_ms() >= deadline) return false
    await clock.sleep(pause_ms)
  }
}

/** Undefined for a process that is gone, is a zombie, or is not a QEMU of this node. */
async function describe(pid: number, layout: KvmLayout): Promise<QemuProcess | undefined> {
  // A zombie's command line is empty, so it is not taken for a live one.
  const command = (await layout.host.files.readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0')
  const pidFile = optionAfter(command, '-pidfile')
  // Earlier versions added an option to the name.
  const name = optionAfter(command, '-name')?.split(',')[0]
  if (pidFile === undefined || name === undefined || pidFile !== `${layout.pidDir()}/${name}`) return undefined
  return { pid, name, uuid: optionAfter(command, '-uuid') ?? '', command }
}
