// Answers to the allocator protocol's requests, for instances of the configuration.
import { buildModel } from '../../../../src/allocation/model/cluster-model'
import { ALLOC_DEFAULTS } from '../../../../src/allocation/model/options'
import { answer } from '../../../../src/allocation/questions/answer'
import { parseClusterText } from '../../../../src/allocation/sources/text-format'

/** An instance of 1 GiB, whose files are not in the volume groups that are counted. Both other nodes have `free` MiB. */
function secondaryFor(free: number) {
  const node = (name: string, disk: number) => `${name}|16384|0|16384|409600|${disk}|16|N|uuid-1|1|`
  const nodes = [node('a', 4096), node('b', free), node('c', free)].join('\n')
  const text = `group|uuid-1|preferred||\n\n${nodes}\n\nfiles|1024|1024|1|running|Y|a||file||1\n\n\n`
  const data = parseClusterText(text)
  const instances = data.instances.map((one) => ({ ...one, local: false }))
  return answer(buildModel({ ...data, instances }), { type: 'allocate-secondary', name: 'files' }, ALLOC_DEFAULTS)
}

test('files that become mirrors need room among volumes', () => {
  expect(secondaryFor(2048)).toMatchObject({ success: true, result: expect.stringMatching(/^[bc]$/) })
  expect(secondaryFor(512)).toMatchObject({ success: false })
})
