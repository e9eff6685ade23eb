import { completions } from '../../../src/cli/completion'
import { instanceTool } from '../../../src/cli/instance/tool'
import type { Master } from '../../../src/rpc/luxi/master'

const known: Readonly<Record<string, readonly string[]>> = { instance: ['vm1', 'vm2', 'web'], node: ['node1', 'node2'] }
const master = {
  query: async (what: string) => ({ data: (known[what] ?? []).map((name) => [[0, name]]) }),
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

test('without a cluster there are no names, and no error', async () => {
  const nobody = () => {
    throw new Error('no cluster')
  }
  expect(await completions(instanceTool, ['migrate', ''], nobody)).toEqual([])
})
