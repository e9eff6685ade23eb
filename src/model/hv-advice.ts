// Advice about hypervisor parameters that work, but are rarely the best. Ganeti's master gives the same, in this order.
import type { Params } from './common'
import { HV_PARAMS, type Hypervisor } from './constants/hypervisors'

/** `params`: with all defaults. A line for each. */
export const adviceOn = (hypervisor: Hypervisor, params: Params): string[] => {
  if (hypervisor !== 'kvm') return []
  const text = (name: string): string => String(params[name] ?? '')
  return [
    ...cpu(text('cpu_type')),
    ...(params['vhost_net']
      ? []
      : ["vhost_net should be enabled for paravirtual NICs: the node's kernel moves their data, not QEMU"]),
    ...bandwidth(Number(params['migration_bandwidth'])),
    ...paravirtual('disk_type', text('disk_type')),
    ...paravirtual('nic_type', text('nic_type')),
    ...encryption('VNC', 'vnc_tls', text('vnc_bind_address'), params),
    ...encryption('Spice', 'spice_use_tls', text('spice_bind'), params),
    ...machine(text('machine_version').split(',')[0] ?? ''),
  ]
}

/** Models that hide most of what the processor can do, also its protection against known attacks. */
const PLAIN_MODELS: readonly string[] = ['qemu32', 'qemu64', 'kvm32', 'kvm64']

function cpu(type: string): string[] {
  const better =
    'guests lack most of what the processor can do, also against attacks; name a newer model that all nodes have'
  if (type === '') return [`cpu_type is currently unset and defaults to 'qemu64': ${better}`]
  if (PLAIN_MODELS.includes(type)) return [`cpu_type is currently set to '${type}': ${better}`]
  if (type === 'host')
    return ["cpu_type is currently set to 'host': guests migrate only between nodes with the same processor"]
  return []
}

function bandwidth(limit: number): string[] {
  if (limit !== HV_PARAMS.kvm['migration_bandwidth']?.default) return []
  return [`migration_bandwidth is still set to its default value(${limit} MiB/s): most networks carry far more`]
}

const paravirtual = (name: string, value: string): string[] =>
  value === 'paravirtual' ? [] : [`${name} is set to '${value}' instead of 'paravirtual', which is the fastest`]

function encryption(screen: string, name: string, bind: string, params: Params): string[] {
  if (bind === '' || STAYS_HERE.test(bind) || params[name]) return []
  return [`${screen} is configured but without TLS: '${name}=true' encrypts what passes over the network`]
}

/** Loopback addresses, and folders for sockets. */
const STAYS_HERE = /^(127\.|::1$|\/)/

/** They lack devices that each instance has. */
const UNFIT_MACHINES: readonly string[] = ['none', 'microvm', 'isapc', 'x-remote']

function machine(type: string): string[] {
  if (type === '')
    return [
      'machine_version is not explicitly configured: a guest gets the default of the QEMU of the node that starts it, ' +
        'which changes with upgrades',
    ]
  if (type === 'pc' || type === 'q35')
    return [`machine_version is set to the '${type}' type, which is another machine in each version of QEMU`]
  return UNFIT_MACHINES.includes(type) ? [`machine_version is set to ${type} which is unsupported`] : []
}
