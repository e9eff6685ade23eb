// A node that has promised more than it has still takes what needs nothing of that.
import { buildModel } from '../../../../src/allocation/model/cluster-model'
import { mayDie } from '../../../../src/allocation/model/outlook'
import { parseClusterText } from '../../../../src/allocation/sources/text-format'

/** Whether there may be room for an instance without disks of its own when its node dies, by what is free on the other one. */
function hasRoom(memory: number, freeDisk: number): boolean {
  const node = (name: string, disk: number) => `${name}|${memory}|0|${memory}|409600|${disk}|16|N|u|1|`
  const one = 'i1|1024|1024|1|running|Y|n1||sharedfile||1'
  const text = `g|u|preferred||\n\n${node('n1', 204800)}\n${node('n2', freeDisk)}\n\n${one}\n\n`
  const model = buildModel(parseClusterText(text))
  const [facts] = model.instances
  if (facts === undefined) throw new Error('no instance')
  return mayDie(model, 0, [], [1], [facts, 0])
}

test('a node whose disks are given away twice has room for what needs none of them', () => {
  expect(hasRoom(4096, 204800)).toBe(true)
  expect(hasRoom(4096, -1024)).toBe(true)
  expect(hasRoom(1024, 204800)).toBe(false)
})
