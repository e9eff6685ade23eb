// Whether every node may die.
import { ALLOC_DEFAULTS } from '../../../../src/allocation/model/options'
import { buildModel } from '../../../../src/allocation/model/cluster-model'
import { GlobalN1 } from '../../../../src/allocation/model/global-n1'
import { parseClusterText } from '../../../../src/allocation/sources/text-format'

/** Two nodes, of which the second has two shared instances and the first as much memory free. */
function holds(free: number, status: string): boolean {
  const node = (name: string, own: number) => `${name}|16384|0|${own}|409600|409600|16|N|uuid-1|1|`
  const instance = (name: string, memory: number, state: string) => `${name}|${memory}|1024|1|${state}|Y|b||rbd||1`
  const used = 2048 + (status === 'running' ? 8192 : 0)
  const text = [
    'group|uuid-1|preferred||\n',
    `${node('a', free)}\n${node('b', 16384 - used)}\n`,
    `${instance('up', 2048, 'running')}\n${instance('other', 8192, status)}\n`,
    '\n',
  ].join('\n')
  const model = buildModel(parseClusterText(text))
  return new GlobalN1(model, [0, 1], ALLOC_DEFAULTS).holds()
}

test('instances that are down need no memory where they go', () => {
  expect(holds(4096, 'ADMIN_down')).toBe(true)
  expect(holds(4096, 'running')).toBe(false)
  expect(holds(12_288, 'running')).toBe(true)
  expect(holds(2048, 'ADMIN_down')).toBe(false)
})
