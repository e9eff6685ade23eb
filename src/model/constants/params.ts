// Defaults and types of backend, NIC and node parameters, and of the instance policy.
import type { BeParams, IPolicy, ISpec, NdParams, NicParams } from '../params'
import type { ParamType } from '../param-types'
import { DISK_TEMPLATES } from '../templates'

export const BE_DEFAULTS: BeParams = {
  minmem: 128,
  maxmem: 128,
  vcpus: 1,
  auto_balance: true,
  always_failover: false,
  spindle_use: 1,
}
export const BE_TYPES: Readonly<Record<keyof BeParams, ParamType>> = {
  minmem: 'size',
  maxmem: 'size',
  vcpus: 'int',
  auto_balance: 'bool',
  always_failover: 'bool',
  spindle_use: 'int',
}

export const DEFAULT_BRIDGE = 'xen-br0'
/** The default link for NICs of the embedded cluster: no bridge, but QEMU's own network. */
export const USER_MODE_LINK = 'user-mode'
export const DEFAULT_OVS = 'switch1'
export const NIC_DEFAULTS: NicParams = { mode: 'bridged', link: DEFAULT_BRIDGE, vlan: '' }
export const NIC_TYPES: Readonly<Record<keyof NicParams, ParamType>> = {
  mode: 'string',
  link: 'string',
  vlan: 'string',
}
export const NIC_MODES = ['bridged', 'ext', 'openvswitch', 'pool', 'routed'] as const
/** Parameters of a NIC in opcodes. */
export const INIC_PARAM_TYPES = {
  bridge: 'maybe-string',
  ip: 'maybe-string',
  link: 'string',
  mac: 'string',
  mode: 'string',
  name: 'maybe-string',
  network: 'maybe-string',
  vlan: 'maybe-string',
} as const
export const MAX_NICS = 8
export const DEFAULT_MAC_PREFIX = 'aa:00:00'

export const ND_DEFAULTS: NdParams = {
  oob_program: '',
  spindle_count: 1,
  exclusive_storage: false,
  ovs: false,
  ovs_name: DEFAULT_OVS,
  ovs_link: '',
  ssh_port: 22,
  cpu_speed: 1,
}
export const ND_TYPES: Readonly<Record<keyof NdParams, ParamType>> = {
  oob_program: 'string',
  spindle_count: 'int',
  exclusive_storage: 'bool',
  ovs: 'bool',
  ovs_name: 'maybe-string',
  ovs_link: 'maybe-string',
  ssh_port: 'int',
  cpu_speed: 'float',
}
/** Parameters that the cluster and groups have, but no single node. */
export const ND_NOT_ON_NODES: readonly (keyof NdParams)[] = ['exclusive_storage']

export const ISPEC_KEYS: readonly (keyof ISpec)[] = [
  'memory-size',
  'disk-size',
  'disk-count',
  'cpu-count',
  'nic-count',
  'spindle-use',
]
export const IPOLICY_KEYS: readonly (keyof IPolicy)[] = [
  'minmax',
  'std',
  'spindle-ratio',
  'vcpu-ratio',
  'disk-templates',
]
export const IPOLICY_DEFAULTS: IPolicy = {
  minmax: [
    {
      min: { 'memory-size': 128, 'disk-size': 1024, 'disk-count': 1, 'cpu-count': 1, 'nic-count': 1, 'spindle-use': 1 },
      max: {
        'memory-size': 32768,
        'disk-size': 1048576,
        'disk-count': 16,
        'cpu-count': 8,
        'nic-count': 8,
        'spindle-use': 12,
      },
    },
  ],
  std: { 'memory-size': 128, 'disk-size': 1024, 'disk-count': 1, 'cpu-count': 1, 'nic-count': 1, 'spindle-use': 1 },
  'spindle-ratio': 32,
  'vcpu-ratio': 4,
  'disk-templates': DISK_TEMPLATES,
}
