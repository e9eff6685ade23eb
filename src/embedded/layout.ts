// The places of an embedded cluster's files below its root, and the settings that it remembers.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { nodeSetupSocket } from '../lib/net/find-socket'
import { checkSocketPath } from '../lib/net/json-socket'
import { isMissing, systemDisk } from '../lib/disk'
import { type Paths, pathsOf } from '../lib/paths'
import { PORT } from '../model/constants/daemons'
import { UsageError } from './options'

/** The settings from the cluster's creation; they stay the same at every start. */
export interface Settings {
  version: 1
  baseAddress: string
  /** The first one is the master. */
  nodes: { name: string; address: string }[]
  clusterAddress: string
  hypervisor: 'kvm' | 'fake'
  /** The nodes are a recorded cluster's, played by one process. */
  simulated: boolean
}

export const settingsFile = (root: string): string => path.join(root, 'cluster.json')
export const passwordFile = (root: string): string => path.join(root, 'admin-password')
export const simSocket = (root: string): string => path.join(root, 'sim.sock')
export const simState = (root: string): string => path.join(root, 'sim.json')
/** The folder in which the nodes find each other's mirrored disks. */
export const mirrorsDir = (root: string): string => path.join(root, 'mirrors')
export const sharedDir = (root: string): string => path.join(root, 'shared')
/** The recorded configuration of the simulated nodes. */
export const recordedConfig = (root: string): string => path.join(root, 'recorded-config.data')

export const nodePaths = (root: string, name: string): Paths => pathsOf(path.join(root, name), name)

/** The remote API, at the address that moves with the master. */
export const apiOf = ({ clusterAddress }: Settings): string => `https://${clusterAddress}:${PORT.rapi}`

/** The address of a node (1, 2, ...) or of the cluster (254). */
export const addressAt = (base: string, index: number): string => base.replace(/\.0$/, `.${index}`)

export function readSettings(root: string): Settings | undefined {
  try {
    const settings = JSON.parse(fs.readFileSync(settingsFile(root), 'utf8')) as Settings
    if (settings.version === 1) return settings
  } catch (error) {
    if (isMissing(error)) return undefined
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new UsageError(
    `${settingsFile(root)} was not written by this version; start with --reset, or name another --root`,
  )
}

export const writeSettings = (root: string, settings: Settings): Promise<void> =>
  systemDisk.write(settingsFile(root), JSON.stringify(settings, null, 2) + '\n', { mode: 0o644 })

/** The longest socket path of a node must fit into the system's limit; checked before anything is made. */
export function checkRootLength(root: string, names: readonly string[]): void {
  const sockets = names.map((name) => `${nodePaths(root, name).livelockDir}/job_000000_0000000000_0000000`)
  for (const socket of [nodeSetupSocket(root), ...sockets]) {
    try {
      checkSocketPath(socket)
    } catch {
      throw new UsageError(
        `the root ${root} is too long for Unix sockets below it; name a shorter one with --root, such as /tmp/gantry`,
      )
    }
  }
}
