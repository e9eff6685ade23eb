// A release of Gantry, as its package describes it: its version, and the configurations that it can read.
import { isObject } from '../lib/shapes/shape'
import { CONFIG_VERSION, CONFIG_VERSIONS_SUPPORTED } from './constants/versions'

export interface Release {
  readonly version: string
  /** The version of configurations that it writes, and all versions that it reads. */
  readonly config_version: number
  readonly config_versions: readonly number[]
}

/** This release's description of itself. */
export const releaseOf = (version: string): Release => {
  return { version, config_version: CONFIG_VERSION, config_versions: CONFIG_VERSIONS_SUPPORTED }
}

/** Reads release.json. A newer release may have written fields that we do not know. */
export function readRelease(text: string): Release | undefined {
  const raw = parsed(text)
  if (!isObject(raw)) return undefined
  const { version, config_version, config_versions } = raw
  const isNumber = (value: unknown): value is number => typeof value === 'number'
  if (typeof version !== 'string' || !isNumber(config_version) || !Array.isArray(config_versions)) return undefined
  return { version, config_version, config_versions: config_versions.filter(isNumber) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
