// Words about instances and nodes on the wire.
export const ADMIN_STATES = ['down', 'offline', 'up'] as const
export const ADMIN_STATE_SOURCES = ['admin', 'user'] as const
export const INSTANCE_STATUSES = [
  'ADMIN_down',
  'ADMIN_offline',
  'ERROR_down',
  'ERROR_nodedown',
  'ERROR_nodeoffline',
  'ERROR_up',
  'ERROR_wrongnode',
  'USER_down',
  'running',
] as const
export type InstanceStatus = (typeof INSTANCE_STATUSES)[number]
export const ALLOC_POLICIES = ['preferred', 'last_resort', 'unallocable'] as const
export const DEFAULT_SHUTDOWN_TIMEOUT_S = 120
/** Seconds that the helper machine has for writing an OS image to disks. */
export const HELPER_STARTUP_TIMEOUT_S = 300
export const HELPER_SHUTDOWN_TIMEOUT_S = 7200

/** Words that stand for special values. */
export const VALUE = {
  auto: 'auto',
  default: 'default',
  false: 'false',
  generate: 'generate',
  none: 'none',
  true: 'true',
} as const

export const NODE_ROLE = { master: 'M', candidate: 'C', drained: 'D', offline: 'O', regular: 'R' } as const
export const OOB_HEALTH_STATUSES = ['CRITICAL', 'OK', 'UNKNOWN', 'WARNING'] as const
export const OOB_TIMEOUT_S = 60
export const MAX_CLOCK_SKEW_S = 150
export const INITIAL_GROUP = 'default'

export const COMPRESSION_TOOLS_DEFAULT: readonly string[] = ['gzip', 'gzip-fast', 'gzip-slow']
export const UID_POOL_MAX = 4294967295
export const SSH_KEY_TYPE_DEFAULT = 'rsa'
export const SSH_KEY_BITS_DEFAULT = 2048
/** The default length of a key, and the possible lengths. */
export const SSH_KEY_BITS = {
  dsa: { standard: 1024, valid: (bits: number) => bits === 1024 },
  rsa: { standard: SSH_KEY_BITS_DEFAULT, valid: (bits: number) => bits >= 768 },
  ecdsa: { standard: 384, valid: (bits: number) => [256, 384, 521].includes(bits) },
} as const
export const BUILTIN_IALLOCATOR = 'hail'
