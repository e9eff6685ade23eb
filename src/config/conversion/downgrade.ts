// Converts a configuration of 3.1 back to 3.0. Refuses anything that 3.0 cannot keep, so that nothing gets lost.
import { isObject } from '../../lib/shapes/shape'
import { CONFIG_VERSION } from '../../model/constants/versions'
import { ConfigurationError } from '../../model/errors'
import { objectAt, objectsIn, textOf, type Raw } from './raw'

const BEFORE = 3_000_000

/** The version to which a configuration of `version` can be downgraded. */
export const downgradable = (version: number): number | undefined => (version === CONFIG_VERSION ? BEFORE : undefined)

export function downgradeConfig(config: Raw): void {
  const cluster = objectAt(config, 'cluster', 'the configuration')
  const groups = objectsIn(config, 'nodegroups')
  const inUse = [
    ...usersOf(cluster, 'gnt-cluster modify -D rbd:user-id='),
    ...groups.flatMap((group) => usersOf(group, `gnt-group modify -D rbd:user-id= ${textOf(group['name'])}`)),
  ]
  if (inUse.length > 0)
    throw new ConfigurationError(
      `Ganeti 3.0 knows no users of Ceph, and would reach images of rbd with another one. First: ${inUse.join('; ')}`,
    )
  config['version'] = BEFORE
  for (const owner of [cluster, ...groups]) {
    const rbd = rbdOf(owner)
    if (rbd !== undefined) delete rbd['user-id']
  }
  const { hvparams } = cluster
  if (isObject(hvparams))
    for (const name of ['xen-pvm', 'xen-hvm']) if (isObject(hvparams[name])) hvparams[name]['xen_cmd'] = 'xl'
}

function rbdOf({ diskparams }: Raw): Raw | undefined {
  const rbd = isObject(diskparams) ? diskparams['rbd'] : undefined
  return isObject(rbd) ? rbd : undefined
}

/** The command that removes the user, if there is one. */
const usersOf = (owner: Raw, command: string): string[] => (textOf(rbdOf(owner)?.['user-id']) === '' ? [] : [command])
