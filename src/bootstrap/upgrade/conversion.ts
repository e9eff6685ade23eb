// Decides whether the configuration must be converted for another release.
import { CONFIG_VERSION } from '../../model/constants/versions'
import type { Release } from '../../model/release'
import { downgradable } from '../../config/conversion/downgrade'

/**
 * `up`: the other release converts, when it runs. `down`: this release, which knows both forms, converts before that.
 */
export type Conversion = 'up' | 'down' | undefined

/** Throws if neither can. */
export function conversionFor(version: number, release: Release): Conversion {
  if (release.config_versions.includes(version)) return undefined
  if (release.config_version > version) return 'up'
  const lower = downgradable(version)
  if (lower !== undefined && release.config_versions.includes(lower)) return 'down'
  throw new Error(
    `Version ${release.version} cannot read a configuration of version ${version}, and this release, whose own is ${CONFIG_VERSION}, ` +
      'cannot convert it down to what that reads',
  )
}
