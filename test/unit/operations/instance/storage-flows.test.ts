// Instances on logical volumes and DRBD, step by step as a real master's jobs were recorded: the same calls to nodes in the same
// order, the same words in the log, the same result, and the same disks in the configuration afterwards.
import type { ConfigData } from '../../../../src/model/config'
import type { FakeCluster } from '../../../support/fake-cluster'
import { recordedStorage, storageCluster, type StorageStep as Step } from '../../../support/storage-cluster'

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
  // Instances have names.
  '104-replace-iallocator': (step) => ({
    ...step,
    log: step.log.map((line) => line.replace(UUID, 'inst2.gnt.example')),
  }),
  // A running instance would go on writing to a disk that another may get.
  '050-plain-disk-detach': () => 'refused',
}

test.each(recordedStorage.steps.map((step) => [step.name, step] as const))('%s', async (name, given) => {
  cluster.asked.length = 0
  cluster.log.length = 0
  const step = OTHERWISE[name]?.(given) ?? given
  const { instance_uuid: _uuid, ...op } = given.op
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

const UUID = /[0-9a-f]{8}-[0-9a-f-]{27}/g

const withoutUuids = (value: unknown): string => JSON.stringify(value).replace(UUID, 'U')

interface Device {
  readonly dev_type: string
  readonly logical_id: readonly unknown[]
}

const idText = (id: readonly unknown[]): string =>
  String(id[1])
    .replace(UUID, 'U')
    .replace(/replaced-\d+/, 'replaced-T')

function deviceText(disk: unknown): string {
  const { dev_type, logical_id } = disk as Device
  return dev_type === 'drbd' ? 'drbd' : idText(logical_id)
}

/** The arguments of calls that show in the recording. Calls that only ask are left out. */
const SHOWN: Readonly<Record<string, (args: readonly unknown[]) => readonly unknown[]>> = {
  blockdev_create: ([disk, _size, _owner, onPrimary]) => [deviceText(disk), onPrimary],
  blockdev_remove: ([disk]) => [deviceText(disk)],
  blockdev_shutdown: ([disk]) => [deviceText(disk)],
  blockdev_assemble: ([disk, _instance, onPrimary]) => [deviceText(disk), onPrimary],
  blockdev_grow: ([disk, amount, dryRun, backing]) => [deviceText(disk), amount, dryRun, backing],
  blockdev_rename: ([pairs]) => [
    (pairs as [Device, unknown[]][]).map(([disk, id]) => `${deviceText(disk)}>${idText(id)}`).join(', '),
  ],
  blockdev_addchildren: ([_disk, parts]) => [(parts as Device[]).map(deviceText).join(', ')],
  blockdev_removechildren: ([_disk, parts]) => [(parts as Device[]).map(deviceText).join(', ')],
  blockdev_open: ([_name, _disks, exclusive]) => [exclusive],
  blockdev_close: () => [],
  drbd_disconnect_net: () => [],
  drbd_attach_net: ([_disks, multimaster]) => [multimaster],
  drbd_wait_sync: () => [],
  instance_start: () => [],
  instance_shutdown: () => [],
  instance_os_add: () => [],
  accept_instance: () => [],
  instance_migrate: () => [],
  instance_finalize_migration_src: () => [],
  instance_finalize_migration_dst: () => [],
}

function callText({ node, call, args }: FakeCluster['asked'][number]): string[] {
  const shown = SHOWN[call]
  return shown === undefined ? [] : [[node.split('.')[0], call, ...shown(args)].join(' ')]
}

function madeText({
  node,
  args: [disk, size, owner, onPrimary, info, exclusive],
}: FakeCluster['asked'][number]): string {
  const params = Object.entries((disk as { params: object }).params).toSorted(([a], [b]) => a.localeCompare(b))
  const texts = [node.split('.')[0], deviceText(disk), size, owner, onPrimary, info, exclusive]
  return [...texts, JSON.stringify(Object.fromEntries(params))].join(' ')
}

/** What each node makes: the volumes of a mirror's sides are made at the same time. */
function byNode(calls: readonly string[]): string[] {
  const isMaking = (call: string | undefined) => call?.includes(' blockdev_create ') === true
  const groups: string[][] = []
  for (const call of calls) {
    const last = groups.at(-1)
    if (last !== undefined && isMaking(last[0]) && isMaking(call)) last.push(call)
    else groups.push([call])
  }
  const node = (call: string) => call.slice(0, call.indexOf(' '))
  return groups.flatMap((group) => group.toSorted((a, b) => node(a).localeCompare(node(b))))
}

/** The same call to several nodes in a row: in which order they hear it does not matter. */
function ordered(calls: readonly string[]): string[] {
  const what = (call: string | undefined) => call?.slice(call.indexOf(' '))
  const groups: string[][] = []
  for (const call of calls) {
    const last = groups.at(-1)
    if (last !== undefined && what(last[0]) === what(call)) last.push(call)
    else groups.push([call])
  }
  return groups.flatMap((group) => group.sort())
}

/** How far a sync is depends on the disks. */
const isToldByAll = (line: string): boolean => !line.includes('% done')

/** Without what is another one each time: uuids, secrets, times and serial numbers. */
function shape({ instances, disks }: Pick<ConfigData, 'disks' | 'instances'>): unknown {
  const plain = (text: string) =>
    JSON.parse(
      text
        .replace(/"(serial_no|ctime|mtime)":[0-9.]+,?/g, '')
        .replace(/,}/g, '}')
        .replace(/"[0-9a-f]{40}"|"<40 hex digits blanked>"/g, '"secret"'),
    ) as Record<string, unknown>
  const whole = (value: object) => {
    const fields = Object.entries(value).filter(([key]) => key !== 'uuid')
    return Object.fromEntries(fields)
  }
  const disk = (uuid: string) => {
    const one = disks[uuid]
    return (
      one &&
      plain(
        JSON.stringify({ ...whole(one), children: one.children.map(whole) }).replace(/[0-9a-f-]{36}\.disk/g, 'U.disk'),
      )
    )
  }
  const shapes = Object.values(instances).map((instance) => ({
    ...plain(JSON.stringify(whole(instance))),
    disks: instance.disks.map(disk),
  }))
  const attached = Object.values(instances).flatMap((instance) => instance.disks as readonly string[])
  const free = Object.keys(disks).filter((uuid) => !attached.includes(uuid))
  return { instances: shapes.sort((a, b) => String(name(a)).localeCompare(String(name(b)))), free: free.map(disk) }
}

const name = (value: object): unknown => Object.entries(value).find(([key]) => key === 'name')?.[1]
