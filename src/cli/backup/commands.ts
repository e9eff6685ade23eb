import { OpBackupExport, OpBackupRemove } from '../../opcodes/backup'
import { type Call, EXIT, refusal } from '../command'
import { firstArgument, opcodeOf, submitting } from '../submit/submit'

export async function exportInstance(call: Call): Promise<number> {
  const { options } = call
  if (options.text('node') === undefined) throw refusal('Target node must be specified')
  await call.jobs.run(
    opcodeOf(OpBackupExport, {
      instance_name: firstArgument(call),
      target_node: options.text('node'),
      compress: options.text('transport_compression'),
      shutdown: options.flag('shutdown'),
      shutdown_timeout: options.number('shutdown_timeout'),
      remove_instance: options.flag('remove_instance'),
      ignore_remove_failures: options.flag('ignore_remove_failures'),
      zero_free_space: options.flag('zero_free_space'),
      zeroing_timeout_fixed: options.number('zeroing_timeout_fixed'),
      zeroing_timeout_per_mib: options.number('zeroing_timeout_per_mib'),
      long_sleep: options.flag('long_sleep'),
    }),
  )
  return EXIT.ok
}

export const removeExport = submitting(OpBackupRemove, (call) => ({ instance_name: firstArgument(call) }))
