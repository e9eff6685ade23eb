// Version numbers of daemons, files and scripts.

/** The version of configurations that this program makes: major * 1000000 + minor * 10000. */
export const CONFIG_VERSION = 3010000
/** Versions of configurations that it loads and keeps as they are. */
export const CONFIG_VERSIONS_SUPPORTED: readonly number[] = [3000000, 3010000]
export const PROTOCOL_VERSION = CONFIG_VERSION
/** Versions of node daemons that may share a cluster. Between these versions, calls were only added. */
export const PROTOCOL_VERSIONS_SUPPORTED = CONFIG_VERSIONS_SUPPORTED
export const RELEASE_VERSION = '3.1.0'

/**
 * The protocol version that a master of this release speaks, and expects of its nodes. Ganeti's master refuses any
 * other.
 */
export function protocolOf(release = RELEASE_VERSION): number {
  const [major, minor] = release.split('.')
  const protocol = Number(major) * 1_000_000 + Number(minor) * 10_000
  return PROTOCOL_VERSIONS_SUPPORTED.includes(protocol) ? protocol : PROTOCOL_VERSION
}

export const EXPORT_VERSION = 0
export const RIE_VERSION = 0
export const OS_API_VERSIONS: readonly number[] = [10, 15, 20]
export const IALLOCATOR_VERSION = 2
export const MOND_LATEST_API_VERSION = 1
