// What "copy as gnt" says of a change of an instance.
import { modify } from '../../../../ui/src/pages/instances/actions/request'

test.each([
  [{ nics: [['remove', 1, {}]] }, 'gnt instance modify --net 1:remove vm1'],
  [{ nics: [['add', -1, {}]] }, 'gnt instance modify --net add vm1'],
  [{ nics: [['modify', 0, { ip: '10.7.0.9' }]] }, 'gnt instance modify --net 0:ip=10.7.0.9 vm1'],
  [{ disks: [['add', -1, { size: 64, name: 'logs' }]] }, 'gnt instance modify --disk add:size=64,name=logs vm1'],
])('%j becomes a line of gnt', (body, line) => {
  expect(modify({ name: 'vm1' }, body).gnt).toBe(line)
})
