// The state of the node's mirrored disks, and their instances.
import { errorCode } from '../../lib/disk'
import { errorText } from '../../lib/system-failure'
import { whyNot } from '../../lib/text/why-not'
import { USER_SPACE_VERSION } from '../../model/constants/disks'
import { CONFD } from '../../rpc/confd/protocol'
import { type DrbdDevice, type DrbdStatus, parseDrbd } from './drbd-text'
import { readJsonList } from './json-list'
import {
  type Collector,
  type Inputs,
  NotReadable,
  type NodeSources,
  OK,
  type Status,
  type UserSpaceStorage,
  listOf,
  readIfThere,
  readSource,
  summary,
} from '../report'
import { anything, dict, int, list, maybe, record, status, text } from '../shapes'

export const drbd: Collector = {
  ...{ name: 'drbd', category: 'storage', kind: 'status' },
  help: 'how the mirrored disks are',
  inputs: {
    'drbd-status': { short: 's', help: 'read the status from this file' },
    'drbd-pairing': { short: 'p', help: 'read from this file whose the minors are' },
  },
  ...{ interval_s: 5, cost_ms: 5 },
  codes: {
    0: 'all connections are up, or the node has no DRBD',
    1: 'a connection is being made, or is disturbed',
    4: 'a connection is closed, or was never configured',
  },
  get shape() {
    return record({ status, versionInfo: maybe(dict(text)), deviceInfos: list(DEVICE) })
  },
  open: (sources, inputs) => ({ collect: () => collect(sources, inputs) }),
}

const DEVICE = record({
  ...{ minor: int, connectionState: text, 'localRole?': text, 'remoteRole?': text },
  ...{ 'localState?': text, 'remoteState?': text, 'replicationProtocol?': text, 'ioFlags?': text },
  ...{ 'perfIndicators?': dict(anything), 'syncStatus?': dict(anything), 'instance?': maybe(text) },
})

async function collect(sources: NodeSources, inputs: Inputs): Promise<unknown> {
  const file = inputs['drbd-status']
  const userSpace = file === undefined ? await sources.userSpace?.() : undefined
  if (userSpace !== undefined) {
    const pairs = await pairing(sources, inputs['drbd-pairing'])
    return reportOf({ version: USER_SPACE_VERSION }, await devicesInUserSpace(userSpace), pairs)
  }
  const text = await (file === undefined ? readIfThere(sources, '/proc/drbd') : readSource(sources, file))
  if (text === undefined) return { status: OK, versionInfo: null, deviceInfos: [] }
  // Like Ganeti, reports a missing pairing before a mistake in the status.
  const pairs = await pairing(sources, inputs['drbd-pairing'])
  const { versionInfo, devices } = parseDrbd(text)
  return reportOf(versionInfo, devices, pairs)
}

function reportOf(versionInfo: DrbdStatus['versionInfo'], devices: readonly DrbdDevice[], pairs: readonly unknown[]) {
  const names = new Map(
    pairs.map((row) => {
      const [, minor, instance] = listOf(row)
      return [minor, instance]
    }),
  )
  const deviceInfos = devices.map(({ minor, connectionState, details }) => ({
    ...{ minor, connectionState, ...details },
    ...(details !== undefined && { instance: names.get(minor) ?? null }),
  }))
  return { status: summary(devices.map(drbdStatus)), versionInfo, deviceInfos }
}

export const devicesInUserSpace = async ({ mirrors }: UserSpaceStorage): Promise<readonly DrbdDevice[]> =>
  [...(await mirrors())].map(([minor, { connection, role, disk, peerDisk, peerPrimary }]) => {
    const remoteRole = peerPrimary === undefined ? 'Unknown' : peerPrimary ? 'Primary' : 'Secondary'
    const details = { localRole: role, remoteRole, localState: disk, remoteState: peerDisk }
    return { minor, connectionState: connection, details }
  })

async function pairing(sources: NodeSources, file: string | undefined): Promise<readonly unknown[]> {
  try {
    return file === undefined
      ? listOf(await sources.ask(CONFD.nodeDrbd, sources.hostname))
      : pairsIn(await sources.read(file))
  } catch (error) {
    if (error instanceof NotReadable) throw error
    if (file !== undefined && errorCode(error) !== undefined) throw new NotReadable(whyNot(file, error))
    sources.warn(`Can't get pairing info: ${errorText(error)}`)
    return []
  }
}

/** `[node, minor, instance, disk, role, peer]` of each device. */
function pairsIn(text: string): readonly unknown[] {
  const read = readJsonList(text)
  if ('wrong' in read) throw new Error(read.wrong)
  if (read.list.some((row) => listOf(row).length !== 6)) throw new Error('Unable to read a DrbdInstMinor')
  return read.list
}

export function drbdStatus({ minor, connectionState }: DrbdDevice): Status {
  const [code, message] = TROUBLE[connectionState] ?? []
  return code === undefined ? OK : { code, message: `${minor}: ${message}` }
}

const CONNECTING: Trouble = [1, 'Trying to establish a network connection']
const DISTURBED: Trouble = [1, 'Communication problems between the peers']
type Trouble = readonly [code: 1 | 4, message: string]

const TROUBLE: Readonly<Record<string, Trouble>> = {
  StandAlone: [4, 'No network config available'],
  Disconnecting: [4, 'The peer is being disconnected'],
  TearDown: [4, 'The peer is closing the connection'],
  Unconnected: CONNECTING,
  WFConnection: CONNECTING,
  WFReportParams: CONNECTING,
  Timeout: DISTURBED,
  BrokenPipe: DISTURBED,
  NetworkFailure: DISTURBED,
  ProtocolError: DISTURBED,
}
