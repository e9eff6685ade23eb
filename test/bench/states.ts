// Copies of a recorded cluster's state that are enlarged to any number of instances.
import * as fs from 'node:fs'
import * as path from 'node:path'

const RECORDED = path.join(__dirname, '../golden/state')

interface Named {
  uuid: string
  name: string
}

interface RecordedConfig {
  instances: Record<string, Named & Record<string, unknown>>
  nodes: Record<string, Named>
}

/** Makes `directory`; returns the uuids of the instances. Without a size, instances and nodes are those of the recording. */
export function writeState(directory: string, size?: number, nodeCount = 0): string[] {
  fs.cpSync(RECORDED, directory, { recursive: true })
  const file = path.join(directory, 'config.data')
  const config = JSON.parse(fs.readFileSync(file, 'utf8')) as RecordedConfig
  if (size === undefined) return Object.keys(config.instances)
  // The other instances have disks, of which each needs its own.
  const model = Object.values(config.instances).find(({ name }) => name === 'inst1.gnt.example')
  if (model === undefined) throw new Error('the recorded cluster has no inst1')
  addNodes(config.nodes, nodeCount)
  const nodes = Object.keys(config.nodes)
  config.instances = Object.fromEntries(
    Array.from({ length: size }, (_, at) => {
      const uuid = `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`
      return [uuid, { ...model, uuid, name: `inst${at}.gnt.example`, primary_node: nodes[at % nodes.length] }]
    }),
  )
  const { disks: _, ...rest } = config as RecordedConfig & { disks: unknown }
  fs.writeFileSync(file, JSON.stringify({ ...rest, disks: {} }))
  return Object.keys(config.instances)
}

/** Adds nodes up to this count. None of them is a master candidate. */
function addNodes(nodes: RecordedConfig['nodes'], count: number): void {
  const [first] = Object.values(nodes)
  if (first === undefined) throw new Error('the recorded cluster has no node')
  for (let at = Object.keys(nodes).length; at < count; at++) {
    const uuid = `00000000-0000-4000-9000-${String(at).padStart(12, '0')}`
    const address = `10.9.${at >> 8}.${at & 255}`
    const own = { uuid, name: `big${at}.gnt.example`, primary_ip: address, secondary_ip: address }
    nodes[uuid] = { ...first, ...own, master_candidate: false } as Named
  }
}
