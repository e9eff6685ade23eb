// Parameters that several opcodes share, with one meaning and one text each.
import { isTagKind, TAG_KINDS } from '../model/object-kinds'
import { dictOf, listOf, setOf } from '../lib/shapes/containers'
import { bool, int, nonEmpty, nonNegative, object, text } from '../lib/shapes/leaves'
import { hidden, secret } from '../lib/shapes/shape'
import { ipv4Address, ipv6Address, ipv6Network } from './addresses'
import { maybe, naming, opt, req } from './opcode'
import {
  allocPolicy,
  diskTemplate,
  fileDriver,
  hypervisor,
  queryTypeOp,
  storageType,
  tagKind,
  tagList,
  verifyErrorCode,
  verifyOptionalChecks,
} from './types'

export const pDebugSimulateErrors = opt(bool, false, 'Make checks fail on purpose')
export const pErrorCodes = opt(bool, false, 'Machine-readable messages')
export const pSkipChecks = opt(setOf(verifyOptionalChecks), [], 'Checks to leave out')
export const pIgnoreErrors = opt(setOf(verifyErrorCode), [], 'Error codes to downgrade to warnings')
export const pVerbose = opt(bool, false, 'More output')
export const pVerifyClutter = opt(bool, false, 'Look for stray authorized keys')
export const pGroupName = naming('group', req(nonEmpty, 'Group name'))
export const pOptionalGroupName = naming('group', maybe(nonEmpty, 'Group name'))
export const pIsStrict = opt(bool, true, 'Treat degraded disks strictly')
export const pOutputFields = req(listOf(nonEmpty), 'Field names')
export const pForce = opt(bool, false, 'Override safety checks')
export const pHvState = maybe(object, 'Hypervisor state overrides (unused data)')
export const pDiskState = maybe(object, 'Disk state overrides (unused data)')
export const pDiskparams = maybe(dictOf(object, diskTemplate), 'Disk parameters per template')
export const pNdparams = maybe(object, 'Node parameters')
export const pIpolicy = maybe(object, 'Instance policy')
export const pMacPrefix = maybe(nonEmpty, 'MAC prefix')
export const pQueryResource = req(queryTypeOp, 'Resource type')
export const pUseLocking = opt(bool, false, 'Must be false; sync queries are refused')
export const pNodeUuids = naming('node', maybe(listOf(nonEmpty), 'Node UUIDs'))
export const pNodeName = naming('node', req(nonEmpty, 'Node name'))
export const pNodeUuid = naming('node', maybe(nonEmpty, 'Node UUID'))
export const pSecondaryIp = maybe(nonEmpty, 'Secondary IP')
export const pMasterCapable = maybe(bool, 'May become master')
export const pVmCapable = maybe(bool, 'May host instances')
export const pNodes = naming('node', opt(listOf(nonEmpty), [], 'Node names'))
export const pStorageType = req(storageType, 'Storage type')
export const pStorageUnit = maybe(nonEmpty, 'Name')
export const pIgnoreConsistency = opt(bool, false, 'Skip disk consistency checks')
export const pLive = maybe(bool, 'Old spelling of mode')
export const pTargetNode = naming('node', maybe(nonEmpty, 'Destination node'))
export const pTargetNodeUuid = naming('node', maybe(nonEmpty, 'Destination node UUID'))
export const pAllowRuntimeChanges = opt(bool, true, 'Permit memory ballooning so it fits')
export const pIgnoreIpolicy = opt(bool, false, 'Skip instance policy checks')
export const pIallocator = maybe(nonEmpty, 'Allocator name, . for the default')
export const pEarlyRelease = opt(bool, false, 'Free locks early')
export const pRemoteNode = naming('node', maybe(nonEmpty, 'New secondary node'))
export const pRemoteNodeUuid = naming('node', maybe(nonEmpty, 'New secondary node UUID'))
export const pInstanceName = naming('instance', req(text, 'Instance name'))
export const pForceVariant = opt(bool, false, 'Accept undeclared OS variants')
export const pWaitForSync = opt(bool, true, 'Wait for disk sync')
export const pNameCheck = opt(bool, false, 'Resolve the name')
export const pOpportunisticLocking = opt(bool, false, 'Use only nodes lockable right now (needs an allocator)')
export const pBeparams = opt(object, {}, 'Backend parameters')
export const pDiskTemplate = maybe(diskTemplate, 'Disk template')
export const pFileDriver = maybe(fileDriver, 'Driver for image files')
export const pFileStorageDir = maybe(nonEmpty, 'Directory below the cluster one')
export const pHvparams = opt(object, {}, 'Hypervisor parameters')
export const pHypervisor = maybe(hypervisor, 'Hypervisor name')
export const pIpCheck = opt(bool, false, 'Ping the IP first')
export const pConflictsCheck = opt(bool, true, 'Check IPs against known networks')
export const pOsparams = opt(object, {}, 'OS parameters')
export const pOsparamsPrivate = maybe(hidden(object), 'Private OS parameters')
export const pOsparamsSecret = maybe(secret(object), 'Secret OS parameters, never stored')
export const pOsType = maybe(nonEmpty, 'OS with variant')
export const pPnode = naming('node', maybe(nonEmpty, 'Primary node'))
export const pPnodeUuid = naming('node', maybe(nonEmpty, 'Primary node UUID'))
export const pCompress = opt(text, 'none', 'Compression during transfer')
export const pTags = opt(tagList(nonEmpty), [], 'Tags')
export const pInstanceUuid = naming('instance', maybe(nonEmpty, 'Instance UUID'))
export const pShutdownTimeout = opt(nonNegative(int), 120, 'Seconds before the guest is killed')
export const pNewName = req(nonEmpty, 'New name')
export const pIgnoreOfflineNodes = opt(bool, false, 'Skip unreachable offline nodes')
export const pNoRemember = opt(bool, false, 'Do not record the new state')
export const pCleanup = opt(bool, false, 'Only recover from an earlier failed migration')
export const pTargetGroups = naming('group', maybe(listOf(nonEmpty), 'Destination groups; default every other one'))
export const pAllocPolicy = maybe(allocPolicy, 'Group allocation policy')
export const pNames = opt(listOf(nonEmpty), [], 'Names')
export const pTagKind = req(tagKind, 'Tag owner kind')
export const pTagObject = naming(
  ({ kind }) => (isTagKind(kind) ? TAG_KINDS[kind] : undefined),
  maybe(text, 'Object name, null for cluster'),
)
export const pTagList = req(tagList(text), 'Tags')
export const pNetworkName = naming('network', req(nonEmpty, 'Network name'))
export const pGateway = maybe(ipv4Address, 'IPv4 gateway')
export const pNetwork6 = maybe(ipv6Network, 'IPv6 network in CIDR form')
export const pGateway6 = maybe(ipv6Address, 'IPv6 gateway')
export const pAddReservedIps = maybe(listOf(ipv4Address), 'Addresses to reserve')
