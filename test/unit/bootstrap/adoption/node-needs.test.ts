// An adoption checks that each node has the programs and devices that its instances need.
import { whatLacks } from '../../../../src/bootstrap/adoption/node-needs'
import { readFacts } from '../../../../src/bootstrap/adoption/probe'
import { recordValues } from '../../../../src/config/records'
import type { ConfigData, Node } from '../../../../src/model/config'
import { buildDisk, buildInstance, configOfNodes } from '../../config/builders'

/** On the first node, with disks on volumes that the second one mirrors, a file, a NIC on a bridge, and an OS with variants. */
function clusterOf(): { config: ConfigData; nodes: Node[] } {
  const bare = configOfNodes(3)
  const nodes = recordValues(bare.nodes).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const [one, two] = nodes.map(({ uuid }) => uuid)
  if (one === undefined || two === undefined) throw new Error('there are three nodes')
  const volume = buildDisk(3, { dev_type: 'plain', logical_id: ['xenvg', 'data'], nodes: [one, two] })
  const mirror = { dev_type: 'drbd', logical_id: [one, two, 11000, 0, 0, 'secret'], nodes: [one, two], children: [volume] } as const // prettier-ignore
  const disks = [buildDisk(1, mirror), buildDisk(2, { dev_type: 'file', nodes: [one] })]
  const nic = { uuid: 'nic', mac: 'aa:00:00:00:00:01', nicparams: { mode: 'bridged', link: 'br7' } }
  const instance = buildInstance(bare, 1, {
    ...{ primary_node: one, os: 'lenny+small', disks: disks.map(({ uuid }) => uuid), nics: [nic] as never },
  })
  const cluster = { ...bare.cluster, file_storage_dir: '/srv/files' }
  const config = {
    ...{ ...bare, cluster, instances: { [instance.uuid]: instance } },
    disks: Object.fromEntries(disks.map((disk) => [disk.uuid, disk])),
  }
  return { config, nodes }
}

const { config, nodes } = clusterOf()
const lacking = (at: number, output: string) => {
  const node = nodes[at]
  if (node === undefined) throw new Error(`there is no node ${at}`)
  return whatLacks(readFacts(output), node, config)
}

test('a node lacks what its instances need and it does not have', () => {
  expect(
    lacking(0, 'volume_group.other=yes\nbridge.br0=yes\nstorage_path./srv/file=yes\ndistrusted.lenny=yes\n'),
  ).toEqual({
    problems: [
      'there is no volume group xenvg, where these have disks: inst1.example.com',
      '/etc/ganeti/file-storage-paths has no line for /srv/files, where these have disks: inst1.example.com',
      'there is no bridge br7, to which NICs of these belong: inst1.example.com',
    ],
    notes: [
      'the OS definition lenny is not trusted, so it can install no instance any more; it is that of these: inst1.example.com',
    ],
  })
})

test('a node with all of it lacks nothing, and the other node of a mirror needs its volumes alone', () => {
  const all = 'volume_group.xenvg=yes\nbridge.br7=yes\nstorage_path./srv=yes\n'
  expect(lacking(0, all)).toEqual({ problems: [], notes: [] })
  expect(lacking(1, '').problems).toEqual(['there is no volume group xenvg, where these have disks: inst1.example.com'])
  expect(lacking(2, '')).toEqual({ problems: [], notes: [] })
})
