// The form that changes a node shows what the node has, so that a switch can be turned off.
import { actionsOf, fieldsFor } from '../../../support/console-actions'
import { consoleServer } from '../../../support/console-server'

consoleServer(() => [200, {}])

test('the switches of a node are as the node is, and its power stays open if nobody knows it', () => {
  const [modify] = actionsOf('pages/nodes/actions.ts').filter(({ id }) => id === 'modify')
  const displayed = (node: object) =>
    fieldsFor(modify?.fields, { name: 'node1', sip: '198.51.100.1', ndparams: {}, ...node })
      .slice(0, 4)
      .map(({ name, kind, initial }) => [name, kind, initial])
  expect(displayed({ master_capable: true, vm_capable: false, powered: null })).toEqual([
    ['secondary_ip', 'text', '198.51.100.1'],
    ['master_capable', 'switch', true],
    ['vm_capable', 'switch', false],
    ['powered', 'choice', ''],
  ])
})
