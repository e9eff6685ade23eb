// A node that must not take part any more lets go of its devices of DRBD.
import { pathsOf } from '../../../../../src/lib/paths'
import type { NodeContext } from '../../../../../src/node/context'
import { shutDownAll } from '../../../../../src/node/storage/drbd/shut-down-all'
import { onDrbdNode, recorded, show } from '../../../../support/drbd-node'
import { notInstalled } from '../../../../support/recorded-programs'

const THREE = recorded('proc-connected.txt')
const SHOWN = show(recorded('show-connected.txt'))
const down = (minor: number, more = {}) => ({ argv: `drbdsetup down resource${minor}`, ...more })
/** As on a machine of its own: no other node uses its kernel. */
const alone = (context: NodeContext) => shutDownAll({ ...context, paths: pathsOf('', context.hostname) })

test('all minors that are configured are shut down, one after the other', async () => {
  const { result, asked: requested } = await onDrbdNode(
    { kernel: [THREE], programs: [SHOWN, down(0), down(1), down(2)] },
    alone,
  )
  expect(result).toEqual([0, 1, 2])
  expect(requested).toEqual(['drbdsetup show', ...[0, 1, 2].map((minor) => `drbdsetup down resource${minor}`)])
})

test('also those that are connected with nobody', async () => {
  const kernel = [recorded('proc-standalone.txt')]
  const programs = [show(recorded('show-standalone.txt')), down(0)]
  expect((await onDrbdNode({ kernel, programs }, alone)).result).toEqual([0])
})

test('without DRBD, and without minors in use, no program runs', async () => {
  expect(await onDrbdNode({}, alone)).toMatchObject({ result: [], asked: [] })
  expect(await onDrbdNode({ kernel: [recorded('proc-unconfigured.txt')] }, alone)).toMatchObject({ asked: [] })
})

test('one that is held for too long keeps no other from its end', async () => {
  const held = down(0, { code: 11, stderr: 'resource0: State change failed: (-12) Device is held open by someone\n' })
  const broken = down(1, { code: 10, stderr: 'no such thing\n' })
  // The clock goes on by the pauses alone: so often is asked within 30 seconds.
  const programs = [SHOWN, ...Array<typeof held>(22).fill(held), broken, down(2)]
  expect((await onDrbdNode({ kernel: [THREE], programs }, alone)).result).toEqual([2])
})

test("an administrator's own resource is left alone", async () => {
  const programs = [
    show(recorded('show-connected.txt').replace('resource resource1', 'resource backup')),
    down(0),
    down(2),
  ]
  expect((await onDrbdNode({ kernel: [THREE], programs }, alone)).result).toEqual([0, 2])
})

test('where nodes share a machine, each shuts down those at its own address', async () => {
  const [first = '', ...others] = recorded('show-connected.txt').split(/(?=^resource )/m)
  const programs = [show([first, ...others.map((one) => one.replaceAll('.21:', '.23:'))].join('')), down(0)]
  const { result } = await onDrbdNode({ kernel: [THREE], programs }, (context) => {
    const lines = (key: string) =>
      key === 'node_secondary_ips' ? ['node2.gnt.example 198.51.100.23', `${context.hostname} 198.51.100.21`] : []
    return shutDownAll({ ...context, ssconf: { ...context.ssconf, lines } })
  })
  expect(result).toEqual([0])
})

test('a missing program is named, with its package', async () => {
  await expect(onDrbdNode({ kernel: [THREE], programs: [notInstalled('drbdsetup show')] }, alone)).rejects.toThrow(
    'install the Debian package drbd-utils',
  )
})
