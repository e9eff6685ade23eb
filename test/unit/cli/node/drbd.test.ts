// `gnt-node list-drbd` asks only for instances of its node.
import { FakeMaster } from '../../../support/fake-master'
import { runCli } from '../../../support/run-cli'

const NODES = ['node2.gnt.example', 'node3.gnt.example'] as const

const disk = (at: number, minors: readonly [number, number]) => ({
  iv_name: `disk/${at}`,
  drbd_info: {
    primary_node: NODES[0],
    primary_minor: minors[0],
    secondary_node: NODES[1],
    secondary_minor: minors[1],
    port: 11000 + at,
  },
})

test('gnt-node list-drbd shows the minors of one node with their peers, from instances on it', async () => {
  const result = {
    'inst2.gnt.example': { name: 'inst2.gnt.example', pnode: NODES[0], disks: [disk(0, [3, 0]), disk(1, [1, 7])] },
    'inst1.gnt.example': {
      name: 'inst1.gnt.example',
      pnode: NODES[0],
      disks: [{ iv_name: 'disk/0', drbd_info: null }],
    },
  }
  const master = new FakeMaster([{ id: 1, result }])
  const { stdout } = await runCli(master, ['gnt-node', 'list-drbd', '--separator=:', NODES[0]])
  expect(stdout.split('\n')).toEqual([
    'Node:Minor:Instance:Disk:Role:PeerNode',
    `${NODES[0]}:1:inst2.gnt.example:disk/1:primary:${NODES[1]}`,
    `${NODES[0]}:3:inst2.gnt.example:disk/0:primary:${NODES[1]}`,
    '',
  ])
  expect(master.submitted[0]?.[0]).toMatchObject({ OP_ID: 'OP_INSTANCE_QUERY_DATA', static: true })
})

test('gnt-node list-drbd asks nothing for a node without instances, and knows when there is no such node', async () => {
  const master = new FakeMaster([])
  expect((await runCli(master, ['gnt-node', 'list-drbd', 'node4.gnt.example'])).stdout).toBe(
    'Node Minor Instance Disk Role PeerNode\n',
  )
  expect(await runCli(master, ['gnt-node', 'list-drbd', 'nosuch'])).toMatchObject({ exit: 1 })
})
