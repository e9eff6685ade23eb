// What "copy as gnt" says of changes of disks and network cards.
import { changeWords } from '../../../../ui/src/parts/gnt'

test.each([
  ['net', ['remove', 1, {}], '--net 1:remove'],
  ['net', ['add', -1, {}], '--net add'],
  ['net', ['modify', 0, { ip: '10.7.0.9', network: null }], '--net 0:ip=10.7.0.9,-network'],
  ['disk', ['add', -1, { size: 64, name: 'my logs' }], "--disk 'add:size=64,name=my logs'"],
])('%s %j becomes options of gnt', (flag, change, words) => {
  expect(changeWords(flag, [change])).toEqual([words])
})
