// Where OS definitions are on this machine.
import * as path from 'node:path'
import type { Paths } from '../lib/paths'
import { OS_SEARCH_PATH } from '../model/constants/paths'
import type { NodeContext } from './context'
import { isVirtualNode } from './network/addresses'

/** Gantry's own definitions; the path is right from src/ and from dist/. */
export const BUNDLED_OS: readonly string[] = [path.join(__dirname, '..', '..', 'os')]

/**
 * A virtual node also uses the definitions installed on its machine, in the place of Debian's packages. The bundled
 * ones come last.
 */
export function osFolders(
  paths: Paths,
  bundled: readonly string[],
): Required<Pick<NodeContext, 'osSearchPath' | 'machineOsPath'>> {
  const machineOsPath = isVirtualNode(paths) ? OS_SEARCH_PATH : []
  const own = OS_SEARCH_PATH.map((directory) => paths.local(directory))
  return { osSearchPath: [...own, ...machineOsPath, ...bundled], machineOsPath }
}
