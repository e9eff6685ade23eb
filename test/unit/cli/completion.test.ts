// The shell completes commands, options and names.
import { completions } from '../../../src/cli/completion'
import { filterTool } from '../../../src/cli/filter/tool'
import { instanceTool } from '../../../src/cli/instance/tool'
import type { Master } from '../../../src/rpc/luxi/master'

const known: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>> = {
  instance: [
    { name: 'vm1', os: 'debian+stable' },
    { name: 'vm2', os: 'debian+stable' },
    { name: 'web', os: 'noop' },
  ],
  node: [{ name: 'node1' }, { name: 'node2' }],
  filter: [{ uuid: '11111111-2222' }],
}
const master = {
  // Another kind is refused, as by luxid: it answers no query for systems.
  query: async (what: string, fields: readonly string[]) => {
    const rows = known[what]
    if (rows === undefined) throw new Error(`no query for ${what}`)
    return { data: rows.map((row) => fields.map((field) => [0, row[field]])) }
  },
  queryTags: async (kind: string, name: string) => [`${kind}-${name}`, 'common'],
} as unknown as Master
const complete = (...words: string[]) => completions(instanceTool, words, () => master)

test('commands, options and choices come from the tables', async () => {
  expect(await complete('mig')).toEqual(['migrate'])
  expect(await complete('add', '--disk-temp')).toEqual(['--disk-template='])
  expect(await complete('add', '-t', 'pl')).toEqual(['plain'])
  expect(await complete('add', '--disk-template=dr')).toEqual(['--disk-template=drbd'])
})

test('names come from the cluster, for arguments and for values of options', async () => {
  expect(await complete('migrate', '-f', 'vm')).toEqual(['vm1', 'vm2'])
  expect(await complete('migrate', '-n', '')).toEqual(['node1', 'node2'])
  expect(await complete('migrate', '-n', 'node2', 'w')).toEqual(['web'])
})

test('a place for an instance may be two nodes', async () => {
  expect(await complete('add', '-n', 'node1:')).toEqual(['node1:node2'])
  expect(await complete('add', '--node=node2:n')).toEqual(['--node=node2:node1'])
})

test('systems are those that instances have, filters come by their ids, and tags are those of the object', async () => {
  expect(await complete('add', '-o', '')).toEqual(['debian+stable', 'noop'])
  expect(await complete('remove-tags', '--submit', 'vm1', 'c')).toEqual(['common'])
  expect(await complete('remove-tags', 'vm1', '')).toEqual(['instance-vm1', 'common'])
  expect(await completions(filterTool, ['delete', '1'], () => master)).toEqual(['11111111-2222'])
})

test('without a cluster there are no names, and no error', async () => {
  const nobody = () => {
    throw new Error('no cluster')
  }
  expect(await completions(instanceTool, ['migrate', ''], nobody)).toEqual([])
})
