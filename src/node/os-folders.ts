// Where OS definitions are on this machine.
import * as path from 'node:path'
import type { Paths } from '../lib/paths'
import { OS_SEARCH_PATH } from '../model/constants/paths'
import type { NodeContext } from './context'
import { isVirtualNode } from './network/addresses'

/** Those that come with Gantry; from src/ and from dist/ alike. */
export const BUNDLED_OS: readonly string[] = [path.join(__dirname, '..', '..', 'os')]

/** A virtual node also finds what is installed on its machine, where Debian's packages are. The bundled ones come last. */
export function osFolders(
  paths: Paths,
  bundled: readonly string[],
): Required<Pick<NodeContext, 'osSearchPath' | 'machineOsPath'>> {
  const machineOsPath = isVirtualNode(paths) ? OS_SEARCH_PATH : []
  const own = OS_SEARCH_PATH.map((directory) => paths.local(directory))
  return { osSearchPath: [...own, ...machineOsPath, ...bundled], machineOsPath }
}
