// Opcodes that export instances.
import { listOf, orNull, tuple } from '../lib/shapes/containers'
import { any, bool, float, int, nonEmpty, none, object } from '../lib/shapes/leaves'
import { pCompress, pInstanceName, pInstanceUuid, pShutdownTimeout, pTargetNodeUuid } from './common'
import { OpInstanceRemove } from './instance'
import { maybe, naming, opcode, opt, req } from './opcode'
import { exportMode, exportTarget } from './types'

export const OpBackupPrepare = opcode('OP_BACKUP_PREPARE', {
  doc: 'Prepares an export; for remote mode returns handshake, key name and signed CA.',
  permission: 'instances.export.prepare',
  summary: 'instance_name',
  result: orNull(object),
  params: {
    instance_name: pInstanceName,
    instance_uuid: pInstanceUuid,
    mode: req(exportMode, 'Local or remote'),
  },
})

export const OpBackupExport = opcode('OP_BACKUP_EXPORT', {
  doc: 'Exports an instance; returns [finalize ok, [per-disk ok]].',
  permission: 'instances.export.create',
  alsoNeeds: ({ remove_instance }) => (remove_instance === true ? [OpInstanceRemove.permission] : []),
  leavesRunning: 'perhaps',
  summary: 'instance_name',
  result: tuple(bool, listOf(bool)),
  params: {
    instance_name: pInstanceName,
    instance_uuid: pInstanceUuid,
    compress: pCompress,
    shutdown_timeout: pShutdownTimeout,
    target_node: naming(
      'node',
      req(exportTarget, 'Node name (local) or list of per-disk [host, port, magic] (remote)'),
    ),
    target_node_uuid: pTargetNodeUuid,
    shutdown: opt(bool, true, 'Stop the instance first'),
    remove_instance: opt(bool, false, 'Remove the instance afterwards'),
    ignore_remove_failures: opt(bool, false, 'Go on despite removal errors'),
    mode: opt(exportMode, 'local', 'Local or remote'),
    x509_key_name: maybe(listOf(any), '[name, hmac, salt] of the key (remote mode)'),
    destination_x509_ca: maybe(nonEmpty, 'Signed X509 CA of the receiver (remote mode)'),
    zero_free_space: opt(bool, false, 'Zero free space before export'),
    zeroing_timeout_fixed: maybe(int, 'Fixed zeroing timeout, seconds'),
    zeroing_timeout_per_mib: maybe(float, 'Extra seconds per MiB'),
    long_sleep: opt(bool, false, 'Keep the instance down during the whole export'),
  },
})

export const OpBackupRemove = opcode('OP_BACKUP_REMOVE', {
  doc: 'Deletes an export from every node.',
  permission: 'instances.export.remove',
  summary: 'instance_name',
  result: none,
  params: {
    instance_name: pInstanceName,
    instance_uuid: pInstanceUuid,
  },
})
