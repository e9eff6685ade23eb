import { silentLog } from '../../../src/lib/log'
import { endAllInstances, isSurelyOffline } from '../../../src/node/health'
import type { Hypervisor } from '../../../src/node/hypervisor/hypervisor'
import { CONFD_ROLE } from '../../../src/rpc/confd/protocol'

const says = (role: number, status = 0) => ({ status, answer: role })
const { offline, regular } = CONFD_ROLE

test.each([
  ['all say so', 3, [says(offline), says(offline), says(offline)], true],
  ['most say so, and the others nothing', 3, [says(offline), says(offline)], true],
  ['one says so, and most nothing', 3, [says(offline)], false],
  ['nobody answers', 3, [], false],
  ['one says something else', 3, [says(offline), says(offline), says(regular)], false],
  ['one does not know the node', 2, [says(offline), says(0, 1)], false],
  ['all say that it is in use', 2, [says(regular), says(regular)], false],
])('a node is offline for sure: %s', (_, asked, replies, sure) => {
  expect(isSurelyOffline(asked, replies)).toBe(sure)
})

test('all of its instances are ended, whatever becomes of one hypervisor', async () => {
  const ended: string[] = []
  const hypervisor = (name: string) =>
    ({
      list: () =>
        name === 'broken' ? Promise.reject(new Error('no access')) : Promise.resolve([`${name}-1`, `${name}-2`]),
      stop: async (instance: { name: string }, options: object) =>
        void ended.push(`${instance.name} ${JSON.stringify(options)}`),
    }) as unknown as Hypervisor
  const ssconf = { lines: () => ['broken', 'kvm'], value: () => undefined }
  expect(await endAllInstances({ ssconf, hypervisor, log: silentLog })).toEqual(['kvm-1', 'kvm-2'])
  expect(ended).toEqual(['kvm-1 {"force":true}', 'kvm-2 {"force":true}'])
})
