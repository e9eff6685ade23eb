// A guest keeps its type of machine while it moves from node to node. QEMU calls old types deprecated, and its later
// versions do not have them: then the guest cannot move there any more.
import { errorText } from '../../../lib/system-failure'
import { QMP_LOOK_S } from '../../../model/limits/hypervisor'
import type { OldMachine } from '../hypervisor'
import { qemuFacts, type QemuFacts } from './host'
import type { KvmMachines } from './machines'
import type { QemuProcess } from './process'
import { machineType, namedMachine } from './same-machine'

/** Guests whose type is old for the QEMU that is installed now, which may be newer than their own. */
export async function oldMachines(machines: KvmMachines): Promise<OldMachine[]> {
  const found: OldMachine[] = []
  for (const process of await machines.all()) {
    const [program = ''] = process.command
    try {
      const qemu = await qemuFacts(machines.context, program)
      const machine = await typeOf(machines, process, qemu)
      const gone = !qemu.machines.includes(machine)
      if (machine !== '' && (gone || qemu.deprecated.includes(machine)))
        found.push({ instance: process.name, machine, version: qemu.version.join('.'), gone })
    } catch (error) {
      const text = 'whether the machine of a guest is old is not known'
      machines.context.log.warn({ instance: process.name, error: errorText(error) }, text)
    }
  }
  return found
}

/** A name without a version means what it meant in the QEMU that the guest was started with. */
async function typeOf(machines: KvmMachines, { name, command }: QemuProcess, qemu: QemuFacts): Promise<string> {
  const named = namedMachine(command)
  return qemu.aliases.includes(named) ? machines.qmp(name, (qmp) => machineType(qmp, QMP_LOOK_S)) : named
}
