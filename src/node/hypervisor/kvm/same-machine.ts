// A migrated guest must find the same machine. The source asks its QEMU for it and writes it into the migrated runtime
// data. The target refuses before anything is sent if it cannot offer the same.
import type { Files } from '../../../lib/files'
import type { InstanceDict } from '../../../rpc/node/dicts'
import { HypervisorFailure } from '../hypervisor'
import { kvmUsable, qemuFacts } from './host'
import type { Accelerator, Host } from './host'
import { acceleratorOption, memoryOf, namedAccelerator, optionAfter } from './launch'
import { KvmParams } from './params'
import type { Qmp } from './qmp'
import type { KvmRuntime } from './runtime'

export interface RunningMachine {
  readonly accelerator: Accelerator
  /** The versioned type, even if the command names an alias such as `pc`. */
  readonly machine: string
}

export async function runningMachine(qmp: Qmp): Promise<RunningMachine> {
  const kvm = await qmp.object('query-kvm')
  return { accelerator: kvm['enabled'] === true ? 'kvm' : 'tcg', machine: await machineType(qmp) }
}

/** Versioned, also if the command names an alias. */
export async function machineType(qmp: Qmp, timeout_s?: number): Promise<string> {
  const type = String(await qmp.run('qom-get', { path: '/machine', property: 'type' }, timeout_s))
  return type.replace(/-machine$/, '')
}

/** The machine type in a command. */
export const namedMachine = (command: readonly string[]): string =>
  (optionAfter(command, '-machine') ?? optionAfter(command, '-M') ?? '').replace(/^type=/, '').split(',')[0] ?? ''

/** The runtime data for the target, with the accelerator, which otherwise each node would choose itself. */
export async function asItRuns(
  files: Files,
  runtime: KvmRuntime,
  { accelerator, machine }: RunningMachine,
): Promise<KvmRuntime> {
  const { command } = runtime
  const named = command.map((word, index) =>
    command[index - 1] === '-machine' ? word.replace(/^[^,]*/, machine) : word,
  )
  const added = namedAccelerator(command) ? [] : ['-accel', acceleratorOption(accelerator, memoryOf(command))]
  return {
    ...runtime,
    command: [...named, ...added],
    ...(accelerator === 'kvm' && passesHostCpu(command) ? { cpuFlags: await cpuFlags(files) } : {}),
  }
}

/** Refuses a guest whose machine this node cannot offer. */
export async function checkSameMachine(host: Host, instance: InstanceDict, runtime: KvmRuntime): Promise<void> {
  const { command } = runtime
  const qemu = await qemuFacts(host, new KvmParams(instance.hvparams).text('kvm_path'))
  const machine = namedMachine(command)
  const version = qemu.version.join('.')
  if (machine !== '' && !qemu.machines.includes(machine))
    refuse(instance, `its machine type ${machine} is unknown to this node's QEMU ${version}`)
  if (namedAccelerator(command) === 'kvm' && !(await kvmUsable(host.files)))
    refuse(instance, 'it runs under KVM, and this node has no usable /dev/kvm (no vmx or svm, or no access)')
  if (runtime.cpuFlags === undefined) return
  const here = new Set(await cpuFlags(host.files))
  const missing = runtime.cpuFlags.filter((flag) => !here.has(flag))
  if (missing.length > 0)
    refuse(instance, `it was given its node's processor, of which this node's lacks ${missing.join(' ')}`)
}

function refuse(instance: InstanceDict, reason: string): never {
  throw new HypervisorFailure(`Instance ${instance.name} cannot go on here: ${reason}; a failover starts it anew`)
}

const passesHostCpu = (command: readonly string[]): boolean =>
  /^(host|max)(,|$)/.test(optionAfter(command, '-cpu') ?? '')

async function cpuFlags(files: Files): Promise<string[]> {
  const cpuinfo = await files.readFile('/proc/cpuinfo', 'utf8')
  return (/^(?:flags|Features)\s*:\s*(.*)$/m.exec(cpuinfo)?.[1] ?? '').split(/\s+/).sort()
}
