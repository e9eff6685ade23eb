// Variables that describe an instance to hook scripts (spec: hooks.json "instance_env").
import { fillBeParams, fillHvParams, fillNicParams } from '../../config/filled'
import { diskTemplateOf, drbdId, logicalVolumes } from '../../config/lookup'
import type { ConfigData, Disk, Instance, Network, Nic } from '../../model/config'
import { networkVariables } from '../../model/network'
import type { HookEnv } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { viewOf, type InstanceView } from './view'
import { diskIdOf } from '../../model/templates'

/** Variables of a configured instance; none if the instance is gone. */
export async function instanceHookEnv(ctx: UnitContext, uuid: string, more: HookEnv = {}): Promise<HookEnv> {
  const config = await ctx.config.read({ instances: [uuid] })
  const instance = config.instances[uuid]
  return instance === undefined ? {} : { ...envOfView(viewOf(config, instance)), ...more }
}

export function envOfView(view: InstanceView, status: unknown = view.instance.admin_state): HookEnv {
  const { config, instance, disks } = view
  const nics = instance.nics.map((nic, index) => nicEnv(config, nic, `INSTANCE_NIC${index}_`))
  const devices = [...nics, ...disks.map((disk, index) => diskEnv(disk, `INSTANCE_DISK${index}_`))]
  return {
    ...basics(config, instance, view.primary.name, status),
    INSTANCE_SECONDARIES: view.secondaries.map((node) => node.name).join(' '),
    INSTANCE_DISK_TEMPLATE: diskTemplateOf(config, instance),
    INSTANCE_NIC_COUNT: instance.nics.length,
    INSTANCE_DISK_COUNT: disks.length,
    ...Object.fromEntries(devices.flatMap((env) => Object.entries(env))),
  }
}

function basics(config: ConfigData, instance: Instance, primary: string, status: unknown): HookEnv {
  const be = fillBeParams(config.cluster, instance.beparams)
  const hv = fillHvParams(config.cluster, instance)
  return {
    OP_TARGET: instance.name,
    INSTANCE_NAME: instance.name,
    INSTANCE_PRIMARY: primary,
    INSTANCE_OS_TYPE: instance.os,
    INSTANCE_STATUS: status,
    INSTANCE_MINMEM: be.minmem,
    INSTANCE_MAXMEM: be.maxmem,
    INSTANCE_MEMORY: be.maxmem,
    INSTANCE_VCPUS: be.vcpus,
    INSTANCE_HYPERVISOR: instance.hypervisor,
    INSTANCE_TAGS: instance.tags.join(' '),
    ...Object.fromEntries(Object.entries(be).map(([name, value]) => [`INSTANCE_BE_${name}`, value])),
    ...Object.fromEntries(Object.entries(hv).map(([name, value]) => [`INSTANCE_HV_${name}`, value])),
  }
}

function nicEnv(config: ConfigData, nic: Nic, prefix: string): HookEnv {
  const params = fillNicParams(config.cluster, nic)
  const bridged = params.mode === 'bridged' || params.mode === 'openvswitch'
  const network = nic.network === undefined ? undefined : config.networks[nic.network]
  return {
    ...(nic.name !== undefined && { [`${prefix}NAME`]: nic.name }),
    [`${prefix}UUID`]: nic.uuid,
    [`${prefix}IP`]: nic.ip ?? '',
    [`${prefix}MAC`]: nic.mac,
    [`${prefix}MODE`]: params.mode,
    [`${prefix}LINK`]: params.link,
    [`${prefix}VLAN`]: params.vlan,
    ...(bridged && { [`${prefix}BRIDGE`]: params.link }),
    ...(network && prefixed(prefix, networkEnv(network, true))),
  }
}

/** `full` is the form for NICs: with uuid, and with an empty list of tags. */
export function networkEnv(network: Network, full = false): HookEnv {
  const { NETWORK_UUID, NETWORK_TAGS, ...others } = networkVariables(network)
  return { ...others, ...(full && { NETWORK_UUID }), ...((full || NETWORK_TAGS !== '') && { NETWORK_TAGS }) }
}

function diskEnv(disk: Disk, prefix: string): HookEnv {
  return {
    ...(disk.name !== undefined && { [`${prefix}NAME`]: disk.name }),
    [`${prefix}UUID`]: disk.uuid,
    [`${prefix}SIZE`]: disk.size,
    [`${prefix}MODE`]: disk.mode,
    [`${prefix}DEV_TYPE`]: disk.dev_type,
    ...prefixed(prefix, identity(disk)),
  }
}

function identity(disk: Disk): HookEnv {
  const [first, second] = disk.logical_id
  switch (diskIdOf(disk.dev_type)) {
    case 'volume':
      return { VG: first, ID: second }
    case 'provider':
      return { PROVIDER: first, ID: second }
    case 'minors':
      return drbdIdentity(disk)
    case undefined:
      return {}
    default:
      return { DRIVER: first, ID: second }
  }
}

function drbdIdentity(disk: Disk): HookEnv {
  const id = drbdId(disk)
  const [data, meta] = disk.children.map((child) => logicalVolumes(child)[0])
  return {
    PNODE: id?.nodeA,
    SNODE: id?.nodeB,
    PORT: id?.port,
    PMINOR: id?.minorA,
    SMINOR: id?.minorB,
    DATA_VG: data?.[0],
    DATA_ID: data?.[1],
    META_VG: meta?.[0],
    META_ID: meta?.[1],
  }
}

const prefixed = (prefix: string, env: HookEnv): HookEnv =>
  Object.fromEntries(Object.entries(env).map(([name, value]) => [prefix + name, value]))
