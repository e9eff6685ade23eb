// gnt-instance: the table of its commands about disks.
import { one, type Tool } from '../command'
import { activateDisks, deactivateDisks, growDisk, recreateDisks } from './disks'
import { oAbsolute, oIgnoreSize, oWaitForSync } from './options'
import { REPAIR_COMMAND } from './repair'
import { SNAPSHOT_COMMANDS } from './snapshots'
import {
  JOB_OPTIONS,
  SUBMIT_OPTIONS,
  oDisk,
  oForce,
  oIallocator,
  oIgnoreIpolicy,
  oNoWaitForSync,
  oPlacement,
  oPriority,
} from '../input/options'

export const DISK_COMMANDS: Tool['commands'] = [
  {
    name: 'activate-disks',
    help: 'bring up disks',
    usage: '<instance-name>',
    args: [one('instance name')],
    options: [...SUBMIT_OPTIONS, oIgnoreSize, oPriority, oWaitForSync],
    run: activateDisks,
  },
  {
    name: 'deactivate-disks',
    help: 'take down disks',
    usage: '[-f] <instance-name>',
    args: [one('instance name')],
    options: [oForce, ...JOB_OPTIONS],
    run: deactivateDisks,
  },
  {
    name: 'recreate-disks',
    help: 'create lost disks again',
    usage: '<instance-name>',
    args: [one('instance name')],
    options: [...JOB_OPTIONS, oDisk, oPlacement, oIallocator],
    run: recreateDisks,
  },
  {
    name: 'grow-disk',
    help: 'enlarge a disk',
    usage: '<instance-name> <disk> <size>',
    args: [one('instance name'), one('free text'), one('free text')],
    options: [...JOB_OPTIONS, oNoWaitForSync, oAbsolute, oIgnoreIpolicy],
    run: growDisk,
  },
  REPAIR_COMMAND,
  ...SNAPSHOT_COMMANDS,
]
