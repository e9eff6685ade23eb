// Instances on logical volumes and DRBD, step by step as a real master's jobs were recorded: the same calls to nodes in the same
// order, the same words in the log, the same result, and the same disks in the configuration afterwards.
import type { FakeCluster } from '../../../support/fake-cluster'
import { recordedStorage, storageCluster, type StorageStep as Step } from '../../../support/storage-cluster'
import {
  UUID,
  byNode,
  callText,
  isToldByAll,
  madeText,
  ordered,
  shape,
  withoutUuids,
} from '../../../support/storage-texts'

let cluster: FakeCluster
beforeAll(() => {
  cluster = storageCluster()
})

/** What ours does otherwise, and why. */
const OTHERWISE: Readonly<Record<string, (step: Step) => Step | 'refused'>> = {
  // A disk that is added to active ones becomes active like them, also where its volume is so from the start.
  '048-plain-disk-add': (step) => ({
    ...step,
    calls: [...step.calls, 'node1 blockdev_assemble U.disk2 false', 'node1 blockdev_assemble U.disk2 true'],
  }),
  '113-drbd-disk-add': (step) => ({
    ...step,
    calls: [
      ...step.calls,
      'node1 blockdev_assemble drbd false',
      'node2 blockdev_assemble drbd false',
      'node1 blockdev_assemble drbd true',
    ],
  }),
  // New disks of a stopped instance do not stay active.
  '111-plain-to-drbd': (step) => ({
    ...step,
    calls: [...step.calls, ...[1, 2].flatMap(() => ['node1', 'node3'].map((node) => `${node} blockdev_shutdown drbd`))],
  }),
  // The other copies are deleted only after those on the primary node were seen to be complete.
  '112-drbd-to-plain': (step) => ({
    ...step,
    calls: [
      ...[1, 2].flatMap(() => ['node1', 'node3'].map((node) => `${node} blockdev_assemble drbd false`)),
      ...[1, 2].map(() => 'node1 blockdev_assemble drbd true'),
      ...step.calls,
    ],
  }),
  // Instances have names.
  '104-replace-iallocator': (step) => ({
    ...step,
    log: step.log.map((line) => line.replace(UUID, 'inst2.gnt.example')),
  }),
  // A running instance would go on writing to a disk that another may get.
  '050-plain-disk-detach': () => 'refused',
}

test.each(recordedStorage.steps.map((step) => [step.name, step] as const))('%s', async (name, input) => {
  cluster.asked.length = 0
  cluster.log.length = 0
  const step = OTHERWISE[name]?.(input) ?? input
  const { instance_uuid: _uuid, ...op } = input.op
  if (step === 'refused') {
    await expect(cluster.run(op)).rejects.toThrow('without using hotplug')
    const [instance] = Object.values(cluster.config.instances).filter((one) => one.name === op['instance_name'])
    cluster.change('detachInstanceDisk', instance?.uuid, instance?.disks[2])
    return
  }
  const result = await cluster.run(op)
  expect(withoutUuids(result)).toEqual(withoutUuids(step.result))
  expect(ordered(byNode(cluster.asked.flatMap(callText)))).toEqual(ordered(byNode(step.calls)))
  expect(cluster.calls('blockdev_create').map(madeText).sort()).toEqual((step.made ?? []).toSorted())
  expect(cluster.log.filter(isToldByAll)).toEqual(step.log.filter(isToldByAll))
  expect(cluster.inconsistencies()).toEqual([])
  if (step.config === undefined) return
  const { cluster: ours } = cluster.config
  expect(shape(cluster.config)).toEqual(shape(step.config))
  expect([ours.highest_used_port, ours.tcpudp_port_pool]).toEqual([
    step.config.highest_used_port,
    step.config.tcpudp_port_pool,
  ])
})
