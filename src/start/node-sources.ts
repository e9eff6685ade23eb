// This node's data for its monitoring collectors.
import type { NodeSources, UserSpaceStorage } from '../collectors/report'
import { type MachineSources, machineSources } from '../collectors/sources'
import { systemClock as clock } from '../lib/clock'
import { systemDisk as disk } from '../lib/disk'
import type { Log } from '../lib/log'
import { thisMachine } from '../lib/machine'
import type { Paths } from '../lib/paths'
import { systemRandom as random } from '../lib/random'
import type { Hypervisor } from '../node/hypervisor/hypervisor'
import { userVolumesOf } from './user-volumes'

export function openNodeSources(paths: Paths, log: Log): MachineSources & Pick<NodeSources, 'backEnd' | 'userSpace'> {
  let opened: Promise<(name: string) => Hypervisor> | undefined
  // This is much code, so it is loaded with the first question. The back ends only answer questions, so they need no address.
  const open = async () => {
    const { hypervisorsOf } = await import('../node/hypervisor/index.js')
    return hypervisorsOf({ ...thisMachine, paths, clock, random, log, bindAddress: '127.0.0.1' })
  }
  const named = async (name: string) => (await (opened ??= open()))(name)
  return {
    ...machineSources(thisMachine, paths.local('/')),
    userSpace: () => userSpaceOf(paths),
    backEnd: (name) => ({
      allInfo: async () => (await named(name)).allInfo(),
      nodeInfo: async () => (await named(name)).nodeInfo(),
    }),
  }
}

/** Most nodes have no storage in user space, so the code for it is loaded only on demand. */
async function userSpaceOf(paths: Paths): Promise<UserSpaceStorage | undefined> {
  const userVolumes = userVolumesOf(paths, thisMachine.files)
  if (userVolumes === undefined) return undefined
  const [{ reportsOf }, { mirrorList }] = await Promise.all([
    import('../node/storage/volume-reports.js'),
    import('../node/mirror/client.js'),
  ])
  const node = { ...thisMachine, disk, paths, clock, hostname: paths.hostname, userVolumes }
  const { groups, logical } = reportsOf(node)
  return { groups, volumes: () => logical(), mirrors: () => mirrorList(node) }
}
