// What a node answers to the checks of cluster verify about DRBD and LVM. The other checks are tested with processes.
import { verifyNode } from '../../../src/node/verify'
import { type DrbdNode, onDrbdNode, recorded } from '../../support/drbd-node'

const verify = (node: DrbdNode, checks: Record<string, unknown>) =>
  onDrbdNode(node, (context) => verifyNode(context, { checks, clusterName: 'cluster', hvparams: {} }))
const DRBD = { 'drbd-helper': '/bin/true', 'drbd-list': null, 'drbd-version': null }

test('a node with DRBD tells its version, the minors in use, and the helper', async () => {
  const { result } = await verify({ kernel: [recorded('proc-diskless.txt')], helper: '/bin/true\n' }, DRBD)
  expect(result).toEqual({
    ...{ 'drbd-helper': [true, '/bin/true'], 'drbd-list': [0, 1, 2] },
    'drbd-version': '8.4.11 (api:1/proto:86-101)',
  })
})

test('a node without DRBD tells why in place of each', async () => {
  const why = expect.stringMatching(
    /^DRBD is not loaded on node node1.gnt.example, there is no \S+: install/,
  ) as unknown
  const { result } = await verify({}, DRBD)
  expect(result).toEqual({ 'drbd-helper': [false, why], 'drbd-list': why, 'drbd-version': why })
})

test('a node that hosts no instances is not asked about their disks', async () => {
  const { result } = await verify({}, { ...DRBD, lvlist: 'xenvg', nonvmnodes: ['node1.gnt.example'] })
  expect(result).toEqual({})
})

test('volumes are told with their sizes and states, but for virtual ones', async () => {
  const argv = 'lvs --noheadings --units=m --nosuffix --separator=| -ovg_name,lv_name,lv_size,lv_attr,devices'
  const groups = { argv: 'vgs --noheadings --units=m --nosuffix --separator=| -ovg_name,vg_size,vg_free', stdout: '  xenvg|100.00|36.00\n' } // prettier-ignore
  const stdout =
    '  xenvg|a|64.00|-wi-ao----|/dev/vdb(0)\n  xenvg|lost|64.00|vwi-a-----|\n  fast|b|8.00|-wi-a-----|/dev/vdc(0)\n'
  const { result } = await verify({ programs: [groups, { argv, stdout }] }, { lvlist: 'xenvg' })
  // Disks may be in any group.
  expect(result).toEqual({ lvlist: { 'xenvg/a': ['64.00', false, true], 'fast/b': ['8.00', false, false] } })
  const missing = { argv: `${argv} -- slow`, code: 5, stderr: '  Volume group "slow" not found\n' }
  await expect(verify({ programs: [groups, missing] }, { lvlist: 'slow' })).resolves.toMatchObject({
    result: { lvlist: expect.stringContaining('Volume group "slow" not found') as unknown },
  })
})

test('a node that runs from a package tells its version, and another one leaves that out', async () => {
  const checks = { 'gantry-release': null }
  const reported = (release: object) =>
    onDrbdNode({}, (context) =>
      verifyNode({ ...context, ...release }, { checks, clusterName: 'cluster', hvparams: {} }),
    )
  expect((await reported({ release: '0.1.1' })).result).toEqual({ 'gantry-release': '0.1.1' })
  expect((await reported({})).result).toEqual({})
})
