// Requests about one instance, and their gnt commands.
import type { Request } from '../../../parts/request'
import { changeWords, gntText } from '../../../parts/gnt'
import type { Seen } from '../../../parts/request-dialog'
import type { Instance } from '../instance'

type Body = Readonly<Record<string, unknown>>
type Flags = Readonly<Record<string, string | null>>

export const pathOf = ({ name }: Pick<Instance, 'name'>, verb = ''): string =>
  `/3/instances/${encodeURIComponent(name)}${verb}`

interface Told {
  /** The gnt command: `instance migrate`. */
  readonly command: string
  /** Parameters of the command that are not in the body. */
  readonly more?: Body
  /** Arguments after the name of the instance. */
  readonly args?: readonly string[]
  readonly flags?: Flags
}

export const post = (instance: Pick<Instance, 'name'>, verb: string, body: Body, reported: Told): Request => ({
  ...{ method: 'POST', path: pathOf(instance, verb), body },
  gnt: gntOf(instance, body, reported),
})

/** Flags whose names differ from their parameters. */
const MODIFY_FLAGS: Flags = {
  ...{ beparams: 'backend-parameters', hvparams: 'hypervisor-parameters', osparams: 'os-parameters' },
  ...{ osparams_private: 'os-parameters-private', os_name: 'os-type', remote_node: 'node', pnode: 'new-primary' },
  ...{ runtime_mem: 'runtime-memory', instance_communication: 'communication', disks: null, nics: null, offline: null },
}

export function modify(instance: Pick<Instance, 'name'>, body: Body): Request {
  const { offline, instance_communication: communication } = body
  const flags = {
    ...(offline === true ? { offline: true } : offline === false ? { online: true } : {}),
    ...(communication === undefined ? {} : { communication: communication === true ? 'yes' : 'no' }),
  }
  const { offline: _, instance_communication: __, ...others } = body
  const words = [...changeWords('disk', body['disks']), ...changeWords('net', body['nics'])]
  const text = gntText('instance modify', { ...others }, [], MODIFY_FLAGS)
  const flagWords = Object.entries(flags).map(([name, value]) => (value === true ? `--${name}` : `--${name}=${value}`))
  return {
    ...{ method: 'PATCH', path: pathOf(instance), body },
    gnt: [text, ...flagWords, ...words, instance.name].join(' '),
  }
}

export const remove = (instance: Pick<Instance, 'name'>, verb: string, body: Body, reported: Told): Request => ({
  ...{ method: 'DELETE', path: pathOf(instance, verb), body },
  gnt: gntOf(instance, body, reported),
})

const gntOf = ({ name }: Pick<Instance, 'name'>, body: Body, { command, more = {}, args = [], flags }: Told): string =>
  gntText(command, { ...more, ...body }, [name, ...args], flags)

/** Shown if somebody else has changed the instance meanwhile: all values that an action can set. */
export const seenOf = (instance: Instance): Seen => ({
  etag: `"instance/${instance.uuid ?? ''}/${instance.serial_no ?? 0}"`,
  facts: Object.fromEntries(WATCHED.map((name) => [name, (instance as Readonly<Record<string, unknown>>)[name]])),
})

const WATCHED = [
  ...['admin_state', 'pnode', 'snodes', 'os', 'disk_template', 'custom_beparams', 'custom_hvparams', 'custom_osparams'],
  ...['disk.sizes', 'disk.names', 'nic.macs', 'nic.ips', 'nic.links', 'nic.modes', 'nic.networks.names', 'tags'],
]

export const isRunning = ({ status }: Instance): boolean => status === 'running' || status === 'ERROR_up'

/** Whether its node is marked offline, so that nothing on it can be started or stopped. */
export const isNodeOffline = ({ status }: Pick<Instance, 'status'>): boolean => status === 'ERROR_nodeoffline'
