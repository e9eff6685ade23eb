import { OpBackupRemove } from '../opcodes/backup'
import { firstArgument, submitting } from './submit'

export const removeExport = submitting(OpBackupRemove, (call) => ({ instance_name: firstArgument(call) }))
