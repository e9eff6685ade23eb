// gnt-cluster: the table of its commands that check the cluster.
import { many, type Tool } from '../command'
import { oDryRun, oNodeGroup, oPriority, oVerbose } from '../input/options'
import {
  oDebugSimulateErrors,
  oErrorCodes,
  oIgnoreErrors,
  oNoHvParamAssessment,
  oNoNplus1Mem,
  oNoStrict,
  oVerifySshClutter,
} from './options'
import { changedSizes, disksData, isClean, repairDiskSizes, verifyCluster, verifyData, verifyDisks } from './verify'

export const CHECK_COMMANDS: Tool['commands'] = [
  {
    name: 'verify',
    help: 'check the cluster',
    usage: '',
    args: [],
    options: [
      oVerbose,
      oDebugSimulateErrors,
      oErrorCodes,
      oNoNplus1Mem,
      oNoHvParamAssessment,
      oDryRun,
      oPriority,
      oNodeGroup,
      oIgnoreErrors,
      oVerifySshClutter,
    ],
    run: verifyCluster,
    data: verifyData,
    isGood: isClean,
  },
  {
    name: 'verify-disks',
    help: 'check and activate disks',
    usage: '',
    args: [],
    options: [oPriority, oNodeGroup, oNoStrict],
    run: verifyDisks,
    data: disksData,
    isGood: isClean,
  },
  {
    name: 'repair-disk-sizes',
    help: 'fix recorded sizes',
    usage: '[<instance-name>...]',
    args: [many('instance name')],
    options: [oDryRun, oPriority],
    run: repairDiskSizes,
    data: changedSizes,
  },
]
