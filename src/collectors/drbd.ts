// How the mirrored disks of the node are, and whose they are.
import { CONFD } from '../rpc/confd/protocol'
import { type DrbdDevice, parseDrbd } from './drbd-text'
import { type NodeSources, OK, type Report, type Status, listOf, readSource, reportOf, summary } from './report'

export const DRBD = { name: 'drbd', category: 'storage', kind: 'status' } as const

const STATUS_FILE = '/proc/drbd'

export interface DrbdFiles {
  readonly status?: string | undefined
  /** Minors and their instances, as confd tells them. */
  readonly pairing?: string | undefined
}

export async function drbd(sources: NodeSources, files: DrbdFiles = {}): Promise<Report> {
  const { versionInfo, devices } = parseDrbd(readSource(sources, files.status ?? STATUS_FILE))
  const names = new Map(
    (await pairing(sources, files.pairing)).map((row) => {
      const [, minor, instance] = listOf(row)
      return [minor, instance]
    }),
  )
  const deviceInfos = devices.map(({ minor, connectionState, details }) => ({
    ...{ minor, connectionState, ...details },
    ...(details !== undefined && { instance: names.get(minor) ?? null }),
  }))
  return reportOf(DRBD, sources.clock, { status: summary(devices.map(statusOf)), versionInfo, deviceInfos })
}

async function pairing(sources: NodeSources, file: string | undefined): Promise<readonly unknown[]> {
  const text = file === undefined ? undefined : readSource(sources, file)
  try {
    return listOf(text === undefined ? await sources.ask(CONFD.nodeDrbd, sources.hostname) : JSON.parse(text))
  } catch (error) {
    sources.warn(`Can't get pairing info: ${error instanceof Error ? error.message : String(error)}`)
    return []
  }
}

function statusOf({ minor, connectionState }: DrbdDevice): Status {
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
