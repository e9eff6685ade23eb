// Trying a move sees the memory that a node must keep for the failure of others.
import { buildModel } from '../../../../src/allocation/model/cluster-model'
import { Verdict } from '../../../../src/allocation/model/placement'
import { parseClusterText } from '../../../../src/allocation/sources/text-format'
import { Trials } from '../../../../src/allocation/model/trials'

/** A third node, with 1,000 MiB, keeps memory for one instance of the first node; may it become the secondary of another, of 300 MiB? */
function becomesSecondary(kept: number): Verdict {
  const node = (name: string, memory: number) => `${name}|${memory}|0|${memory}|409600|204800|16|N|u|1|`
  const instance = (name: string, size: number, secondary: string) =>
    `${name}|${size}|1024|1|running|Y|n1|${secondary}|drbd||1`
  const nodes = [`n1|16384|0|${16384 - kept - 300}|409600|204800|16|N|u|1|`, node('n2', 16384), node('n3', 1000)]
  const instances = [instance('i1', kept, 'n3'), instance('i2', 300, 'n2')]
  const text = `g|u|preferred||\n\n${nodes.join('\n')}\n\n${instances.join('\n')}\n\n`
  const trials = new Trials(buildModel(parseClusterText(text)), false)
  trials.begin(1)
  return trials.replaceSecondary(2)
}

test('a node becomes no secondary where it could not start all that it keeps memory for, though it could start the new one', () => {
  expect(becomesSecondary(600)).toBe(Verdict.ok)
  expect(becomesSecondary(800)).toBe(Verdict.memory)
})
