// The state of each disk of the node's instances, as its storage reports it.
import { errorText } from '../../lib/system-failure'
import { disksByInstance, nodeInstances } from '../configuration'
import { type Collector, type NodeSources, OK, type Status, listOf, readIfThere, summary } from '../report'
import { about, anything, dict, int, list, maybe, oneOf, record, status, text } from '../shapes'
import { devicesInUserSpace, drbdStatus } from '../storage/drbd'
import { type DrbdDevice, parseDrbd } from '../storage/drbd-text'
import { logicalVolumes } from '../storage/lv'
import { diskIdOf, isInFileSystem, isDrbd } from '../../model/templates'

export const instDiskStatus: Collector = {
  ...{ name: 'inst-disk-status', category: 'instance', kind: 'status' },
  help: 'how each disk of the instances is',
  asksConfd: true,
  ...{ interval_s: 15, cost_ms: 100 },
  shape: record({
    status,
    instances: list(
      record({
        ...{ name: text, uuid: text, role: oneOf('primary', 'secondary'), status },
        disks: list(
          record({
            ...{ index: int, uuid: text, name: maybe(text), template: text, status },
            details: about('what its storage tells of it', dict(anything)),
          }),
        ),
      }),
    ),
  }),
  codes: {
    0: 'every disk is there and whole',
    1: 'a disk is being synchronized, or its connection is being made',
    2: 'nobody can say how a disk is',
    4: 'a disk is missing or broken',
  },
  open: (sources) => ({ collect: () => collect(sources) }),
}

type Fields = Readonly<Record<string, unknown>>
type Role = 'primary' | 'secondary'

interface Backing {
  readonly sources: NodeSources
  volumes(): ReturnType<typeof logicalVolumes>
  devices(): Promise<readonly DrbdDevice[]>
}

interface Finding {
  readonly status: Status
  readonly details: Fields
}

async function collect(sources: NodeSources): Promise<unknown> {
  const { primary, secondary } = await nodeInstances(sources)
  const backing = lookedAtOnce(sources)
  const names = [...primary, ...secondary].map(({ name }) => String(name))
  const disks = await disksByInstance(sources, names)
  const reported = (role: Role) => (one: Fields) =>
    instanceDisks(backing, one, role, disks.get(String(one['name'])) ?? [])
  const instances = await Promise.all([...primary.map(reported('primary')), ...secondary.map(reported('secondary'))])
  return { status: summary(instances.map((one) => one.status)), instances }
}

/** One look at each storage serves all disks. Only storages with a disk here are looked at. */
function lookedAtOnce(sources: NodeSources): Backing {
  let volumes: ReturnType<typeof logicalVolumes> | undefined
  let devices: Promise<readonly DrbdDevice[]> | undefined
  const lvm = async () => {
    const own = await sources.userSpace?.()
    if (own === undefined) return logicalVolumes(sources)
    return (await own.volumes()).map(({ vg, name, size, attributes }) => {
      return { vg_name: vg, name, attr: attributes, size: Number(size) * MIB }
    })
  }
  const drbd = async () => {
    const own = await sources.userSpace?.()
    if (own !== undefined) return devicesInUserSpace(own)
    const text = await readIfThere(sources, '/proc/drbd')
    return text === undefined ? [] : parseDrbd(text).devices
  }
  return { sources, volumes: () => (volumes ??= lvm()), devices: () => (devices ??= drbd()) }
}

const MIB = 1 << 20

async function instanceDisks(backing: Backing, instance: Fields, role: Role, known: readonly Fields[] | string) {
  const { name, uuid } = instance
  const disks = typeof known === 'string' ? [] : known
  const unknown: Status =
    typeof known === 'string' ? { code: 2, message: `Can't get its disks from ConfD: ${known}` } : OK
  const onPrimary = String(instance['primary_node'])
  const reported = await Promise.all(
    disks.map(async (disk, index) => {
      const found = await findingOf(backing, disk, { role, onPrimary }).catch(notKnown)
      const { uuid, name, dev_type } = disk
      return { index, uuid, name: name ?? null, template: dev_type, ...found }
    }),
  )
  const worded = [{ status: unknown, index: undefined }, ...reported].map(({ status: { code, message }, index }) => {
    const where = index === undefined ? '' : `disk ${index}: `
    return message === '' ? { code, message } : { code, message: `${String(name)}: ${where}${message}` }
  })
  return { name, uuid, role, status: summary(worded), disks: reported }
}

const notKnown = (error: unknown): Finding => ({ status: { code: 2, message: errorText(error) }, details: {} })

interface Side {
  readonly role: Role
  /** The node that is the instance's primary. */
  readonly onPrimary: string
}

async function findingOf(backing: Backing, disk: Fields, side: Side): Promise<Finding> {
  const template = String(disk['dev_type'])
  const id = listOf(disk['logical_id'])
  if (diskIdOf(template) === 'volume') return plainDisk(await backing.volumes(), `${String(id[0])}/${String(id[1])}`)
  if (isDrbd(template)) return drbdDisk(await backing.devices(), id, side)
  const file = fileOf(template, id)
  if (file === undefined)
    return { status: { code: 2, message: `disks of type ${template} do not tell how they are` }, details: {} }
  return fileDisk(backing.sources, file)
}

/** The file or device of a disk on its node. */
function fileOf(template: string, id: readonly unknown[]): string | undefined {
  const kind = diskIdOf(template)
  if (isInFileSystem(template) || kind === 'device') return String(id[1])
  return kind === 'image' ? `/dev/rbd/${String(id[0])}/${String(id[1])}` : undefined
}

async function fileDisk(sources: NodeSources, file: string): Promise<Finding> {
  const path = file.startsWith('/dev/') ? file : sources.paths.local(file)
  const facts = await sources.stat(path)
  if (facts === undefined) return { status: { code: 4, message: `${file} is missing` }, details: { path: file } }
  return { status: OK, details: { path: file, ...(facts.isFile && { size_bytes: facts.size }) } }
}

/** The position of the health letter in LVM's attributes. */
const HEALTH = 8
const UNHEALTHY: Readonly<Record<string, string>> = {
  p: 'a physical volume of it is missing',
  r: 'it has to be refreshed',
  m: 'its copies differ',
}

function plainDisk(volumes: Awaited<ReturnType<Backing['volumes']>>, volume: string): Finding {
  const found = volumes.find(({ vg_name, name }) => `${vg_name}/${name}` === volume)
  if (found === undefined)
    return { status: { code: 4, message: `the logical volume ${volume} is missing` }, details: { volume } }
  const attr = String(found['attr'])
  const problem = UNHEALTHY[attr[HEALTH] ?? '']
  const status: Status = problem === undefined ? OK : { code: 4, message: problem }
  return { status, details: { volume, attr, size_bytes: found['size'] } }
}

/** `[node, node, port, minor, minor, secret]`: each node has its own minor. */
function drbdDisk(devices: readonly DrbdDevice[], id: readonly unknown[], { role, onPrimary }: Side): Finding {
  const first = (id[0] === onPrimary) === (role === 'primary')
  const minor = Number(first ? id[3] : id[4])
  const device = devices.find((one) => one.minor === minor)
  if (device === undefined || device.connectionState === 'Unconfigured')
    return { status: { code: 4, message: `DRBD has no device ${minor}` }, details: { minor } }
  const { connectionState, details = {} } = device
  const { localState, remoteState, syncStatus } = details
  const states = { minor, connectionState, localState, remoteState, ...(syncStatus !== undefined && { syncStatus }) }
  return { status: diskState(device, String(localState)), details: states }
}

function diskState(device: DrbdDevice, local: string): Status {
  if (['Failed', 'Diskless'].includes(local)) return { code: 4, message: `its own disk is ${local.toLowerCase()}` }
  const connection = drbdStatus(device)
  if (connection.code !== 0) return { ...connection, message: connection.message.replace(/^\d+: /, '') }
  return local === 'UpToDate' ? OK : { code: 1, message: `its own disk is ${local.toLowerCase()}` }
}
