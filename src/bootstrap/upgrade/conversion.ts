// Whether the configuration has to be converted for another release.
import { CONFIG_VERSION } from '../../model/constants/versions'
import type { Release } from '../../model/release'
import { downgradable } from '../../config/conversion/downgrade'

/** Up by the other release, when it runs; down by this one, which knows both forms, before that. */
export type Conversion = 'up' | 'down' | undefined

/** Throws when nobody can. */
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
