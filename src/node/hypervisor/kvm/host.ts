// Finds out what this machine offers to QEMU when an instance starts: program, machine types and accelerator.
import { accessible, constants, type Files } from '../../../lib/files'
import { changeableByOthers } from '../../../lib/file/changeable'
import type { Run } from '../../../lib/programs/run-command'
import type { Machine } from '../../../lib/machine'
import { errorCode } from '../../../lib/disk'
import { HypervisorFailure } from '../hypervisor'
import type { Backing } from './devices'
import type { KvmParams } from './params'

export const QEMU_INSTALL = 'apt-get install -y --no-install-recommends qemu-system-x86'
const FALLBACKS: readonly string[] = ['/usr/bin/qemu-system-x86_64', '/usr/libexec/qemu-kvm']
const DEFAULT_PATH = '/usr/bin/kvm'

export interface QemuFacts {
  readonly program: string
  readonly version: readonly [major: number, minor: number, patch: number]
  /** QEMU's default machine type. The command names it explicitly, so that a migration uses the same machine. */
  readonly defaultMachine: string
  readonly machines: readonly string[]
  /** Those that a later version of QEMU will not have. */
  readonly deprecated: readonly string[]
  /** Those that are another machine in each version, such as `pc`. */
  readonly aliases: readonly string[]
}

export type Accelerator = 'kvm' | 'tcg'

export type Host = Pick<Machine, 'files' | 'run'>

/** One entry for each machine: a node has one QEMU, and an upgrade replaces it. */
const known = new WeakMap<Run, { readonly key: string; readonly facts: QemuFacts }>()

/** `kvm_path`. If that is Ganeti's default and missing here, the name in other distributions. */
export async function findQemu(files: Files, kvmPath: string): Promise<string | undefined> {
  const candidates = kvmPath === DEFAULT_PATH || kvmPath === '' ? [DEFAULT_PATH, ...FALLBACKS] : [kvmPath]
  for (const candidate of candidates) if (await accessible(files, candidate, constants.X_OK)) return candidate
  return undefined
}

export async function qemuFacts({ files, run }: Host, kvmPath: string): Promise<QemuFacts> {
  const program = await findQemu(files, kvmPath)
  if (program === undefined)
    throw new HypervisorFailure(`The KVM binary ('${kvmPath}') does not exist; install it with: ${QEMU_INSTALL}`)
  // It runs as the user of the node, and a job may name any program.
  const others = await changeableByOthers(files, program)
  if (others !== undefined)
    throw new HypervisorFailure(
      `The KVM binary (kvm_path '${program}') is not started: ${others}; only root may be able to change it`,
    )
  const { mtimeMs } = await files.stat(program)
  const key = `${program}:${mtimeMs}`
  const last = known.get(run)
  if (last?.key === key) return last.facts
  const facts = await askQemu(run, program)
  known.set(run, { key, facts })
  return facts
}

async function askQemu(run: Run, program: string): Promise<QemuFacts> {
  const [version, machines] = await Promise.all([ask(run, program, '-version'), ask(run, program, '-machine', 'help')])
  const [, major, minor, patch = '0'] = /version (\d+)\.(\d+)(?:\.(\d+))?/.exec(version) ?? []
  const defaultMachine = /^(\S+)\s.*\(default\)/m.exec(machines)?.[1]
  if (major === undefined || defaultMachine === undefined)
    throw new HypervisorFailure(`${program} does not tell its version and machines: ${version.slice(0, 200)}`)
  const lines = machines.split('\n').filter((line) => /^\S+\s{2,}/.test(line))
  const names = (which: RegExp) => lines.filter((line) => which.test(line)).map((line) => line.replace(/\s.*$/, ''))
  return {
    ...{ program, version: [Number(major), Number(minor), Number(patch)], defaultMachine },
    ...{ machines: names(/^/), deprecated: names(/\(deprecated\)$/), aliases: names(/\(alias of \S+\)/) },
  }
}

async function ask(run: Run, program: string, ...args: string[]): Promise<string> {
  const result = await run([program, ...args], { timeout_s: 30 })
  if (result.code === 0) return result.stdout
  throw new HypervisorFailure(`${program} ${args.join(' ')} failed: ${result.output.trim()}`)
}

/**
 * KVM only if the processor really supports it: /dev/kvm also exists on machines where ordinary guests hang, and QEMU
 * does not fall back from a KVM that opens.
 */
export async function accelerator(files: Files, params: KvmParams): Promise<Accelerator> {
  const desired = params.text('kvm_flag')
  if (desired === 'disabled') return 'tcg'
  if (await kvmUsable(files)) return 'kvm'
  if (desired === 'enabled')
    throw new HypervisorFailure(
      'kvm_flag is "enabled", but this node has no usable /dev/kvm (no vmx or svm, or no access)',
    )
  return 'tcg'
}

/**
 * Before version 9.0 a live migration without KVM can leave out pages that the guest wrote meanwhile. The guest then
 * hangs or crashes on the target.
 */
export const missesWrites = (accelerator: Accelerator, { version }: Pick<QemuFacts, 'version'>): boolean =>
  accelerator === 'tcg' && version[0] < 9

export async function kvmUsable(files: Files): Promise<boolean> {
  const cpuinfo = await files.readFile('/proc/cpuinfo', 'utf8').catch(() => '')
  return hasVirtualization(cpuinfo) && (await accessible(files, '/dev/kvm', constants.R_OK | constants.W_OK))
}

export const hasVirtualization = (cpuinfo: string): boolean => /^flags\s*:.*\b(vmx|svm)\b/m.test(cpuinfo)

/** Some file systems (tmpfs) do not support writing around the page cache. */
/**
 * The target of a disk's link. A dangling link counts as its template's kind, so that QEMU reports why it does not
 * start.
 */
export async function backingOf(files: Files, link: string): Promise<Backing> {
  const info = await files.stat(link).catch(() => undefined)
  if (info === undefined) return { directIo: true }
  if (info.isSocket()) return { directIo: true, kind: 'server' }
  return { directIo: await allowsDirectIo(files, link), kind: info.isBlockDevice() ? 'device' : 'file' }
}

async function allowsDirectIo(files: Files, file: string): Promise<boolean> {
  try {
    await (await files.open(file, constants.O_RDONLY | constants.O_DIRECT)).close()
    return true
  } catch (error) {
    return errorCode(error) !== 'EINVAL'
  }
}
