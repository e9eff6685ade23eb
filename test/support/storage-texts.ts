// Texts of recorded and of our operations on logical volumes and DRBD, without uuids, secrets and times, which always differ.
import type { ConfigData } from '../../src/model/config'
import type { FakeCluster } from './fake-cluster'

export const UUID = /[0-9a-f]{8}-[0-9a-f-]{27}/g

export const withoutUuids = (value: unknown): string => JSON.stringify(value).replace(UUID, 'U')

interface Device {
  readonly dev_type: string
  readonly logical_id: readonly unknown[]
}

const idText = (id: readonly unknown[]): string =>
  String(id[1])
    .replace(UUID, 'U')
    .replace(/replaced-\d+/, 'replaced-T')

export function deviceText(disk: unknown): string {
  const { dev_type, logical_id } = disk as Device
  return dev_type === 'drbd' ? 'drbd' : idText(logical_id)
}

/** The arguments of recorded calls that are compared. Calls that only ask are left out. */
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
  blockdev_setinfo: ([disk, text]) => [deviceText(disk), text],
  blockdev_snapshot: ([disk]) => [deviceText(disk)],
  drbd_disconnect_net: () => [],
  drbd_attach_net: ([_disks, multimaster]) => [multimaster],
  drbd_wait_sync: () => [],
  instance_start: () => [],
  instance_shutdown: () => [],
  instance_reboot: () => [],
  instance_run_rename: () => [],
  instance_os_add: () => [],
  accept_instance: () => [],
  instance_migrate: () => [],
  instance_finalize_migration_src: () => [],
  instance_finalize_migration_dst: () => [],
  export_start: () => [],
  finalize_export: () => [],
  import_start: () => [],
  node_ensure_daemon: () => [],
}

/** Whether a call changes something on nodes. */
export const isOrder = (call: string): boolean => Object.hasOwn(SHOWN, call)

export function callText({ node, call, args }: FakeCluster['asked'][number]): string[] {
  const displayed = SHOWN[call]
  return displayed === undefined ? [] : [[node.split('.')[0], call, ...displayed(args)].join(' ')]
}

export function madeText({
  node,
  args: [disk, size, owner, onPrimary, info, exclusive],
}: FakeCluster['asked'][number]): string {
  const params = Object.entries((disk as { params: object }).params).toSorted(([a], [b]) => a.localeCompare(b))
  const texts = [node.split('.')[0], deviceText(disk), size, owner, onPrimary, info, exclusive]
  return [...texts, JSON.stringify(Object.fromEntries(params))].join(' ')
}

/** Sorts the calls by node, because the volumes of a mirror's two sides are made at the same time. */
export function byNode(calls: readonly string[]): string[] {
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

/** Sorts consecutive equal calls to several nodes, because their order does not matter. */
export function ordered(calls: readonly string[]): string[] {
  const what = (call: string | undefined) => call?.slice(call.indexOf(' '))
  const groups: string[][] = []
  for (const call of calls) {
    const last = groups.at(-1)
    if (last !== undefined && what(last[0]) === what(call)) last.push(call)
    else groups.push([call])
  }
  return groups.flatMap((group) => group.sort())
}

/** False for lines about the progress of a sync, which depends on the disks, and for a step that Ganeti has since 3.1. */
export const isToldByAll = (line: string): boolean =>
  !line.includes('% done') && line !== '* Assessing cluster hypervisor parameters'

/** The configuration without values that differ each time: uuids, secrets, times and serial numbers. */
export function shape({ instances, disks }: Pick<ConfigData, 'disks' | 'instances'>): unknown {
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
