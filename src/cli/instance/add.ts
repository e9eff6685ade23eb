// gnt-instance add and gnt-backup import, which share their options.
import { MAX_DISKS } from '../../model/constants/disks'
import { MAX_NICS } from '../../model/constants/params'
import { OpInstanceCreate } from '../../opcodes/instance'
import type { Call } from '../command'
import { CommandFailure, EXIT, refusal } from '../outcome'
import type { OptionValues } from '../input/option-values'
import {
  backendParams,
  byIndex,
  diskValues,
  enteredParams,
  hypervisorName,
  hypervisorParams,
  nicValues,
} from '../input/params'
import { firstArgument, opcodeOf, type Params } from '../submit/submit'
import { hasDisks } from '../../model/templates'

export async function addInstance(call: Call): Promise<number> {
  const { options } = call
  const input = creationOf(call, options.flag('commit'))
  await call.jobs.run(opcodeOf(OpInstanceCreate, { ...input, mode: 'create', os_type: options.text('os') }))
  return EXIT.ok
}

/** Omitted parameters come from the export. */
export async function importInstance(call: Call): Promise<number> {
  const { options } = call
  const params = {
    mode: 'import',
    ...(options.idents('nics').length === 0 && { nics: [] }),
    start: options.flag('start'),
  }
  await call.jobs.run(opcodeOf(OpInstanceCreate, { ...creationOf(call, true), ...params }))
  return EXIT.ok
}

function creationOf(call: Call, disksKnown: boolean): Params<typeof OpInstanceCreate> {
  const { options } = call
  // A node's name has no colon.
  const [pnode, ...others] = options.text('node')?.split(':') ?? []
  const snode = others.join(':')
  const [ident, hvparams] = options.ident('hypervisor') ?? []
  const hypervisor = ident === undefined ? undefined : hypervisorName(ident)
  return {
    ...options.parametersOf(OpInstanceCreate),
    instance_name: firstArgument(call),
    disks: disksOf(options, disksKnown),
    nics: nicsOf(options),
    pnode,
    snode: snode === '' ? undefined : snode,
    group_name: options.text('nodegroup'),
    hypervisor,
    hvparams: hypervisorParams(hypervisor === undefined ? {} : enteredParams(hvparams ?? null, hypervisor), hypervisor),
    beparams: backendParams(options.keyValues('beparams')),
  }
}

/** `--disk N:size=...` for each disk, or `-s SIZE` for a single one; none if they are known otherwise. */
function disksOf(options: OptionValues, known: boolean): Record<string, unknown>[] {
  const disks = options.idents('disks')
  const size = options.number('sd_size')
  if (!hasDisks(options.text('disk_template') ?? '')) {
    if (disks.length > 0 || size !== undefined) throw refusal('Diskless instance but disk information passed')
    return []
  }
  if (disks.length > 0 && size !== undefined) throw refusal("Please use either the '--disk' or '-s' option")
  if (size !== undefined) return [{ size }]
  if (disks.length === 0 && !known)
    throw refusal(
      'No disk information specified: write --disk 0:size=10g for each disk, -s 10g for a single one, or -t diskless',
    )
  return byIndex(disks, 'disk', MAX_DISKS).map((values, at) => {
    if (values['size'] === undefined && values['adopt'] === undefined)
      throw refusal(`Missing size or adoption source for disk ${at}`)
    return diskValues(values, `disk ${at}`)
  })
}

/** One NIC with the cluster's defaults, unless the options say otherwise. */
function nicsOf(options: OptionValues): Record<string, unknown>[] {
  const nics = options.idents('nics')
  if (!options.flag('no_nics')) return nics.length === 0 ? [{}] : byIndex(nics, 'NIC', MAX_NICS).map(nicValues)
  if (nics.length > 0) throw new CommandFailure('Either NICs can be given, or --no-nics, not both')
  return []
}
