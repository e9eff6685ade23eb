// When a node believes that the cluster has marked it offline, and what it ends then.
import { silentLog } from '../../../src/lib/log'
import { candidatesToAsk, endAllInstances, isSurelyOffline } from '../../../src/node/health'
import type { Hypervisor } from '../../../src/node/hypervisor/hypervisor'
import { CONFD_ROLE } from '../../../src/rpc/confd/protocol'

const says = (role: number, status = 0, serial = 7) => ({ status, answer: role, serial })
const { offline, regular } = CONFD_ROLE

test.each([
  ['all say so', 3, [says(offline), says(offline), says(offline)], true],
  ['most say so, and the others nothing', 3, [says(offline), says(offline)], true],
  ['one says so, and most nothing', 3, [says(offline)], false],
  ['nobody answers', 3, [], false],
  ['one says something else', 3, [says(offline), says(offline), says(regular)], false],
  ['one does not know the node', 2, [says(offline), says(0, 1)], false],
  ['one that has missed changes says something else', 3, [says(offline), says(offline), says(regular, 0, 6)], true],
  ['one that has newer changes says something else', 3, [says(offline), says(offline), says(regular, 0, 8)], false],
  ['one with newer changes does not know it', 3, [says(offline), says(offline), says(0, 1, 8)], false],
  ['all say that it is in use', 2, [says(regular), says(regular)], false],
])('a node is offline for sure: %s', (_, requested, replies, sure) => {
  expect(isSurelyOffline(requested, replies)).toBe(sure)
})

test('a node does not ask itself, since nobody tells it that it is offline', () => {
  const lists: Record<string, string[]> = {
    master_candidates_ips: ['10.0.0.1', '10.0.0.2', '10.0.0.3'],
    node_primary_ips: ['node1 10.0.0.1', 'node2 10.0.0.2', 'node3 10.0.0.3'],
  }
  expect(candidatesToAsk({ lines: (key) => lists[key] ?? [] }, 'node2')).toEqual(['10.0.0.1', '10.0.0.3'])
})

test('all of its instances are ended, whatever becomes of one hypervisor, or of one instance', async () => {
  const ended: string[] = []
  const hypervisor = (name: string) =>
    ({
      list: () =>
        name === 'broken'
          ? Promise.reject(new Error('no access'))
          : Promise.resolve([1, 2, 3].map((n) => `${name}-${n}`)),
      stop: async ({ name: instance }: { name: string }, options: object) => {
        if (instance === 'kvm-2') throw new Error('its process does not end')
        ended.push(`${instance} ${JSON.stringify(options)}`)
      },
    }) as unknown as Hypervisor
  const ssconf = { lines: () => ['broken', 'kvm'], value: () => undefined }
  expect(await endAllInstances({ ssconf, hypervisor, log: silentLog })).toEqual(['kvm-1', 'kvm-3'])
  expect(ended).toEqual(['kvm-1 {"force":true}', 'kvm-3 {"force":true}'])
})
