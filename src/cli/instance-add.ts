import { OpInstanceCreate } from '../opcodes/instance'
import { type Call, CommandFailure, EXIT } from './command'
import type { OptionValues } from './option-values'
import { backendParams, byIndex, diskValues, hypervisorParams } from './params'
import { firstArgument, opcodeOf } from './submit'

export async function addInstance(call: Call): Promise<number> {
  const { options } = call
  const [pnode, snode] = options.text('node')?.split(':', 2) ?? []
  const [hypervisor, hvparams] = options.ident('hypervisor') ?? []
  const noInstall = options.flag('no_install')
  await call.jobs.run(
    opcodeOf(OpInstanceCreate, {
      instance_name: firstArgument(call),
      mode: 'create',
      disk_template: options.text('disk_template'),
      disks: disksOf(options),
      nics: nicsOf(options),
      pnode,
      snode: snode === '' ? undefined : snode,
      group_name: options.text('nodegroup'),
      iallocator: options.text('iallocator'),
      hypervisor,
      hvparams: hypervisorParams(hvparams || {}, hypervisor),
      beparams: backendParams(options.keyValues('beparams')),
      os_type: options.text('os'),
      force_variant: options.flag('force_variant'),
      osparams: options.keyValues('osparams'),
      osparams_private: options.keyValues('osparams_private'),
      osparams_secret: options.keyValues('osparams_secret'),
      no_install: noInstall,
      start: options.flag('start') && !noInstall,
      name_check: options.flag('name_check'),
      ip_check: options.flag('ip_check'),
      conflicts_check: options.flag('conflicts_check'),
      wait_for_sync: options.flag('wait_for_sync'),
      file_driver: options.text('file_driver'),
      file_storage_dir: options.text('file_storage_dir'),
      ignore_ipolicy: options.flag('ignore_ipolicy'),
      opportunistic_locking: options.flag('opportunistic_locking'),
      tags: options.text('tags')?.split(',') ?? [],
      forthcoming: options.flag('forthcoming'),
      commit: options.flag('commit'),
      instance_communication: options.optionalFlag('instance_communication'),
      helper_startup_timeout: options.number('helper_startup_timeout'),
      helper_shutdown_timeout: options.number('helper_shutdown_timeout'),
    }),
  )
  return EXIT.ok
}

/** `--disk N:size=...` for each disk, or `-s SIZE` for the only one. */
function disksOf(options: OptionValues): Record<string, unknown>[] {
  const disks = options.idents('disks')
  const size = options.number('sd_size')
  if (options.text('disk_template') === 'diskless') {
    if (disks.length > 0 || size !== undefined)
      throw new CommandFailure('Diskless instance but disk information passed')
    return []
  }
  if (disks.length > 0 && size !== undefined) throw new CommandFailure("Please use either the '--disk' or '-s' option")
  if (size !== undefined) return [{ size }]
  if (disks.length === 0 && !options.flag('commit')) throw new CommandFailure('No disk information specified')
  return byIndex(disks, 'disk').map((values, at) => {
    if (values['size'] === undefined && values['adopt'] === undefined)
      throw new CommandFailure(`Missing size or adoption source for disk ${at}`)
    return diskValues(values, `disk ${at}`)
  })
}

/** One NIC with the cluster's defaults unless something else is asked for. */
function nicsOf(options: OptionValues): Record<string, unknown>[] {
  const nics = options.idents('nics')
  if (!options.flag('no_nics')) return nics.length === 0 ? [{}] : byIndex(nics, 'network')
  if (nics.length > 0) throw new CommandFailure('Either NICs can be given, or --no-nics, not both')
  return []
}
