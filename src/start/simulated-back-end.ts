// The instances of a recorded node, played by "sim", for monitoring collectors.
import type { BackEnd } from '../collectors/report'
import { systemClock as clock } from '../lib/clock'
import { thisMachine } from '../lib/machine'
import type { Paths } from '../lib/paths'
import { nodeUuid } from '../model/ids'
import { openNodeClient } from '../rpc/node/client'

export function simulatedBackEnd(paths: Paths): (hypervisor: string) => BackEnd {
  const nodes = openNodeClient({ paths, clock, files: thisMachine.files })
  // The simulator knows its nodes by their names.
  const node = { uuid: nodeUuid(paths.hostname), name: paths.hostname, primary_ip: '127.0.0.1', offline: false }
  return (name) => ({
    async allInfo() {
      const all = await nodes.one(node, 'all_instances_info', [[name], { [name]: {} }])
      return new Map(Object.entries(all))
    },
    async nodeInfo() {
      const [, , found] = await nodes.one(node, 'node_info', [null, [[name, {}]]])
      const info = found?.[0]
      if (info === undefined || info === null) throw new Error(`the simulator tells nothing of ${name}`)
      return info
    },
  })
}
