// The shell completes commands, options and names.
import { completions } from '../../../src/cli/completion'
import { filterTool } from '../../../src/cli/filter/tool'
import { instanceTool } from '../../../src/cli/instance/tool'
import type { Master } from '../../../src/rpc/luxi/master'

const known: Readonly<Record<string, readonly (readonly unknown[])[]>> = {
  instance: [['vm1'], ['vm2'], ['web']],
  node: [['node1'], ['node2']],
  os: [
    ['debian', ['stable', 'testing']],
    ['noop', []],
  ],
  filter: [['11111111-2222']],
}
const master = {
  query: async (what: string, fields: readonly string[]) => ({
    data: (known[what] ?? []).map((row) => row.slice(0, fields.length).map((value) => [0, value])),
  }),
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

test('systems come with their variants, filters by their ids, and tags are those of the object', async () => {
  expect(await complete('add', '-o', 'de')).toEqual(['debian+stable', 'debian+testing'])
  expect(await complete('remove-tags', 'vm1', '')).toEqual(['instance-vm1', 'common'])
  expect(await completions(filterTool, ['delete', '1'], () => master)).toEqual(['11111111-2222'])
})

test('without a cluster there are no names, and no error', async () => {
  const nobody = () => {
    throw new Error('no cluster')
  }
  expect(await completions(instanceTool, ['migrate', ''], nobody)).toEqual([])
})
