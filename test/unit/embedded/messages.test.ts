// What `npm start` tells the person who runs it.
import { howToTake } from '../../../src/config/store-files'
import { RESTORE_IT } from '../../../src/config/upgrade'
import { pathsOf } from '../../../src/lib/paths'
import { explain, startCommand } from '../../../src/embedded/messages'
import { defaultRoot } from '../../../src/embedded/options'

test('the command that goes on with a cluster', () => {
  expect(startCommand(defaultRoot())).toBe('npm start')
  expect(startCommand('/tmp/a b')).toBe("npm start -- --root '/tmp/a b'")
  expect(startCommand(defaultRoot(), '--take-files', 'node1')).toBe('npm start -- --take-files node1')
})

test.each(['/tmp/x', '/tmp/a b'])('the way out of files that disagree is a start of the cluster in %s', (root) => {
  const text = howToTake(pathsOf(`${root}/node1.gantry.local`, 'node1.gantry.local'))
  expect(explain(new Error(text), root)).toBe(
    `If ${root}/node1.gantry.local/var/lib/ganeti is right as it is, run: ${startCommand(root, '--take-files', 'node1.gantry.local')}, ` +
      'or name there another node, whose copy the master is to get',
  )
})

test('the way out of a file that is lost is a start of the cluster with the copy of another node', () => {
  expect(explain(new Error(`gantry.data is not JSON: ${RESTORE_IT}`), '/tmp/x')).toBe(
    'gantry.data is not JSON: restore it from a master candidate or a backup. ' +
      'To take it from NODE, run: npm start -- --root /tmp/x --take-files NODE',
  )
})
