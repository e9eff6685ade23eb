// Opcodes on snapshots of instances' disks. Ganeti has none of them; its fork snf-ganeti has the first one, for external storage.
import { either, listOf, tuple } from '../lib/shapes/containers'
import { int, nonEmpty, none } from '../lib/shapes/leaves'
import { objectOf, optional } from '../lib/shapes/objects'
import { pInstanceName, pInstanceUuid } from './common'
import { opcode, req } from './opcode'
import { size } from './types'

/** By index, name or uuid. */
const whichDisk = either(int, nonEmpty)

export const OpInstanceSnapshot = opcode('OP_INSTANCE_SNAPSHOT', {
  doc: 'Makes snapshots of disks, all or none; the instance may run.',
  permission: 'instances.snapshot',
  summary: 'instance_name',
  result: none,
  params: {
    instance_name: pInstanceName,
    instance_uuid: pInstanceUuid,
    disks: req(
      listOf(
        tuple(whichDisk, objectOf({ snapshot_name: nonEmpty, snapshot_size: optional(size) }, { others: 'refused' })),
      ),
      '[[disk, {snapshot_name, snapshot_size}], ...]; the size, only of those on LVM, is the room for what changes',
    ),
  },
})

export const OpInstanceRollbackSnapshot = opcode('OP_INSTANCE_ROLLBACK_SNAPSHOT', {
  doc: 'Gives disks of a stopped instance the data of their snapshots again. What was written since is lost.',
  permission: 'instances.rollback_snapshot',
  summary: 'instance_name',
  result: none,
  params: {
    instance_name: pInstanceName,
    instance_uuid: pInstanceUuid,
    disks: req(
      listOf(tuple(whichDisk, objectOf({ snapshot_name: nonEmpty }, { others: 'refused' }))),
      '[[disk, {snapshot_name}], ...]',
    ),
  },
})

export const OpInstanceRemoveSnapshot = opcode('OP_INSTANCE_REMOVE_SNAPSHOT', {
  doc: 'Deletes snapshots of disks.',
  permission: 'instances.remove_snapshot',
  summary: 'instance_name',
  result: none,
  params: {
    instance_name: pInstanceName,
    instance_uuid: pInstanceUuid,
    disks: req(
      listOf(tuple(whichDisk, objectOf({ snapshot_name: nonEmpty }, { others: 'refused' }))),
      '[[disk, {snapshot_name}], ...]',
    ),
  },
})
