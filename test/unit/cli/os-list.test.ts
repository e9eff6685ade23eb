// An empty list of operating systems says where nodes look for them.
import { FakeMaster } from '../../support/fake-master'
import { runCli } from '../../support/run-cli'

test('gnt-os list says where nodes look when there is nothing that they can use, and lists nothing else', async () => {
  const none = await runCli(new FakeMaster([{ id: 1, result: [] }]), ['gnt-os', 'list', '--no-headers'])
  expect(none).toMatchObject({ exit: 0, stdout: '' })
  expect(none.stderr).toMatch(/They look in \/srv\/ganeti\/os, .*\/usr\/share\/ganeti\/os; "gnt-os diagnose" says/)
  const some = await runCli(new FakeMaster([{ id: 1, result: [['noop', []]] }]), ['gnt-os', 'list', '--no-headers'])
  expect(some).toMatchObject({ stdout: 'noop\n', stderr: '' })
})
