// Starts, stops and reinstalls instances, possibly many at once.
import { OpInstanceReboot, OpInstanceReinstall, OpInstanceShutdown, OpInstanceStartup } from '../../opcodes/instance'
import type { WireOpCode } from '../../rpc/luxi/calls'
import type { Call } from '../command'
import { EXIT } from '../outcome'
import { confirm, confirmMany } from '../input/confirm'
import { oForceMultiple } from './options'
import { askForOs, ABORTED } from '../os/choice'
import { backendParams, hypervisorParams } from '../input/params'
import { selectInstances } from '../input/select'
import { opcodeOf } from '../submit/submit'

export const startupInstances = (call: Call): Promise<number> =>
  onMany(call, 'startup', ({ options }, instance_name) =>
    opcodeOf(OpInstanceStartup, {
      ...options.parametersOf(OpInstanceStartup),
      instance_name,
      force: options.flag('force'),
      hvparams: hypervisorParams(options.keyValues('hvparams')),
      beparams: backendParams(options.keyValues('beparams')),
    }),
  )

export const shutdownInstances = (call: Call): Promise<number> =>
  onMany(call, 'shutdown', ({ options }, instance_name) =>
    opcodeOf(OpInstanceShutdown, {
      ...options.parametersOf(OpInstanceShutdown),
      instance_name,
      force: options.flag('force'),
    }),
  )

export const rebootInstances = (call: Call): Promise<number> =>
  onMany(call, 'reboot', ({ options }, instance_name) =>
    opcodeOf(OpInstanceReboot, { ...options.parametersOf(OpInstanceReboot), instance_name }),
  )

async function onMany(call: Call, verb: string, opcodeFor: (call: Call, name: string) => WireOpCode): Promise<number> {
  const { names, several } = await selectInstances(call)
  if (names.length === 0) {
    call.terminal.out('Cluster is empty, no instances to shutdown')
    return EXIT.ok
  }
  const sure = !several || (await confirmMany(call, { names, kind: 'instances', verb }, oForceMultiple))
  if (!sure) return EXIT.failure
  return runOnEach(call, names, several, opcodeFor)
}

async function runOnEach(
  call: Call,
  names: readonly string[],
  several: boolean,
  opcodeFor: (call: Call, name: string) => WireOpCode,
): Promise<number> {
  const jobs = names.map((name) => ({ name, ops: [opcodeFor(call, name)] }))
  const outcomes = await call.jobs.runMany(jobs, several)
  return outcomes.every(({ ok }) => ok) ? EXIT.ok : EXIT.failure
}

export async function reinstallInstances(call: Call): Promise<number> {
  const { options } = call
  const { names, several } = await selectInstances(call)
  const input = options.text('os')
  const os = input === undefined && options.flag('select_os') ? await askForOs(call) : input
  if (os === ABORTED) {
    call.terminal.err('User aborted reinstall, exiting')
    return EXIT.failure
  }
  const change = os === undefined ? 'keep the same OS' : `change the OS to '${os}'`
  const question = `This will reinstall the instance '${names[0]}' (and ${change}) which removes all data. Continue?`
  const note = `Note: this will remove *all* data for the below instances! It will ${change}.\n`
  // `--force` allows data loss for one instance only, so we still ask.
  const touched = { names, kind: 'instances', verb: 'reinstall', note }
  const sure = several
    ? await confirmMany(call, touched, oForceMultiple)
    : options.flag('force_multi') || (await confirm(call, question))
  if (!sure) return EXIT.failure
  return runOnEach(call, names, several, (_, instance_name) =>
    opcodeOf(OpInstanceReinstall, {
      ...options.parametersOf(OpInstanceReinstall),
      instance_name,
      os_type: os,
    }),
  )
}
