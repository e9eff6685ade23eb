// A node runs the hook scripts that Ganeti would run, in its order.
import { runHooks } from '../../../src/node/hooks'
import { type TestNode, testNode } from '../../support/node-context'

let node: TestNode
beforeEach(() => void (node = testNode()))
afterEach(() => node.remove())

const hook = (name: string, text: string, mode = 0o755) =>
  node.put(`/etc/ganeti/hooks/instance-add-pre.d/${name}`, `#!/bin/sh\n${text}\n`, mode)

test('scripts run in order of their names, and only the executable ones with proper names', async () => {
  hook('20-fail', 'echo no >&2; exit 1')
  hook('10-ok', 'echo "$GANETI_OP_CODE $HOME."')
  hook('30-not-executable', 'exit 1', 0o644)
  hook('40.bak', 'exit 1')
  hook('.hidden', 'exit 1')
  await expect(runHooks(node.context, 'instance-add', 'pre', { GANETI_OP_CODE: 'OP_X' })).resolves.toEqual([
    ['instance-add-pre.d/10-ok', 2, 'OP_X .'],
    ['instance-add-pre.d/20-fail', 1, 'no'],
    ['instance-add-pre.d/30-not-executable', 0, ''],
    ['instance-add-pre.d/40.bak', 0, ''],
  ])
})

test('no directory means no scripts', async () => {
  await expect(runHooks(node.context, 'instance-add', 'post', {})).resolves.toEqual([])
})

test('control characters of the output are made visible', async () => {
  hook('a', "printf 'a\\033[2Jb\\n'")
  await expect(runHooks(node.context, 'instance-add', 'pre', {})).resolves.toEqual([
    ['instance-add-pre.d/a', 2, 'a\\x1b[2Jb'],
  ])
})

test.each([
  ['../../bin', 'pre'],
  ['instance-add', 'during'],
])('%s %s is refused', async (name, phase) => {
  await expect(runHooks(node.context, name, phase, {})).rejects.toThrow()
})
