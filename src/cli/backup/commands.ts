// gnt-backup export and remove.
import { OpBackupExport, OpBackupRemove } from '../../opcodes/backup'
import type { Call } from '../command'
import { EXIT, refusal } from '../outcome'
import { firstArgument, opcodeOf, submitting } from '../submit/submit'

export async function exportInstance(call: Call): Promise<number> {
  const { options } = call
  if (options.text('node') === undefined) throw refusal('Target node must be specified')
  await call.jobs.run(
    opcodeOf(OpBackupExport, {
      ...options.parametersOf(OpBackupExport),
      instance_name: firstArgument(call),
      target_node: options.text('node'),
    }),
  )
  return EXIT.ok
}

export const removeExport = submitting(OpBackupRemove, (call) => ({ instance_name: firstArgument(call) }))
