// The recorded state of a master, changed so that one of its instances is on mirrored disks.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { type EmbeddedCluster, startCluster } from './embedded-cluster'

const RECORDED = path.join(__dirname, '../golden/state')

/** On node2, with node3 as its secondary. */
export const MIRRORED_INSTANCE = 'inst2.gnt.example'

/** Returns the uuid of its disk. */
export function copyMirroredState(to: string): string {
  fs.cpSync(RECORDED, to, { recursive: true })
  const file = path.join(to, 'config.data')
  const config = JSON.parse(fs.readFileSync(file, 'utf8')) as Config
  const disk = mirror(config)
  fs.writeFileSync(file, JSON.stringify(config))
  return disk
}

/** A simulated cluster that starts with a copy of that state. */
export async function startMirrored(): Promise<EmbeddedCluster> {
  const state = fs.mkdtempSync(path.join(os.tmpdir(), 'mirrored-'))
  try {
    copyMirroredState(state)
    return await startCluster(['--state', state])
  } finally {
    fs.rmSync(state, { recursive: true })
  }
}

interface Config {
  readonly cluster: { enabled_disk_templates: string[]; ipolicy: { 'disk-templates': string[] } } & Record<
    string,
    unknown
  >
  readonly nodes: Readonly<Record<string, { name: string }>>
  readonly instances: Readonly<Record<string, { name: string; disks: string[] }>>
  readonly disks: Record<string, Record<string, unknown>>
}

function mirror(config: Config): string {
  const { cluster: facts, nodes, instances, disks } = config
  facts.enabled_disk_templates.push('drbd')
  facts.ipolicy['disk-templates'].push('drbd')
  Object.assign(facts, { volume_group_name: 'xenvg', drbd_usermode_helper: '/bin/true' })
  const uuidOf = (name: string) => Object.entries(nodes).find(([, node]) => node.name === name)?.[0]
  const pair = [uuidOf('node2.gnt.example'), uuidOf('node3.gnt.example')]
  const instance = Object.values(instances).find(({ name }) => name === MIRRORED_INSTANCE)
  const disk = instance?.disks[0] ?? ''
  instance?.disks.splice(1)
  const half = (kind: string, size: number, digit: string) => ({
    ...{ logical_id: ['xenvg', `${disk}.${kind}`], dev_type: 'plain', children: [], nodes: pair, iv_name: '', size },
    ...{ mode: 'rw', params: {}, uuid: disk.slice(0, -1) + digit, serial_no: 1 },
  })
  Object.assign(disks[disk] ?? {}, {
    ...{ dev_type: 'drbd', logical_id: [...pair, 11000, 0, 0, 'secret'], nodes: pair },
    children: [half('data', 16, '0'), half('meta', 128, '1')],
  })
  return disk
}
