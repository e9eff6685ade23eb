// How systemd confines each daemon. docs/install.md lists for each daemon its score, and what cannot be confined and why.
import { PATH } from '../../src/model/constants/paths'
import type { DaemonOfNode } from '../../src/roles/role'
import type { ROLES } from '../../src/roles/table'

type Lines = readonly (readonly [key: string, value: string])[]

const STATE = [PATH.DATA_DIR, '/run/ganeti', PATH.LOG_DIR].map((directory) => `-${directory}`).join(' ')

/**
 * These restrictions do not hinder a program that reads files and answers on sockets. V8 makes code at run time, so memory must stay
 * executable.
 */
const SHUT_IN: Lines = [
  ['NoNewPrivileges', 'yes'],
  ['ProtectSystem', 'strict'],
  ['ReadWritePaths', STATE],
  ['ProtectHome', 'yes'],
  ['PrivateTmp', 'yes'],
  ['PrivateDevices', 'yes'],
  ['ProtectClock', 'yes'],
  ['ProtectControlGroups', 'yes'],
  ['ProtectHostname', 'yes'],
  ['ProtectKernelLogs', 'yes'],
  ['ProtectKernelModules', 'yes'],
  ['ProtectKernelTunables', 'yes'],
  ['LockPersonality', 'yes'],
  ['RemoveIPC', 'yes'],
  ['RestrictNamespaces', 'yes'],
  ['RestrictRealtime', 'yes'],
  ['RestrictSUIDSGID', 'yes'],
  ['SystemCallArchitectures', 'native'],
  ['SystemCallFilter', '@system-service'],
  ['SystemCallErrorNumber', 'EPERM'],
  ['UMask', '0027'],
]
const NO_CAPABILITY: Lines = [['CapabilityBoundingSet', '']]
const NETWORK: Lines = [['RestrictAddressFamilies', 'AF_UNIX AF_INET AF_INET6 AF_NETLINK']]
const without = (lines: Lines, ...keys: readonly string[]): Lines => lines.filter(([key]) => !keys.includes(key))

export type PackagedName = DaemonOfNode<(typeof ROLES)[number]>['name']

/** The compiler complains if a daemon is missing: it would not be shut in at all. */
export const SANDBOX: Readonly<Record<PackagedName, Lines>> = {
  confd: [...SHUT_IN, ...NO_CAPABILITY, ...NETWORK],
  wconfd: [...SHUT_IN, ...NO_CAPABILITY, ...NETWORK],
  maintd: [...SHUT_IN, ...NO_CAPABILITY, ...NETWORK],
  rapi: [...SHUT_IN, ...NO_CAPABILITY, ...NETWORK],
  // Job processes outlive luxid, and the next luxid finds them.
  luxid: [...SHUT_IN, ...NO_CAPABILITY, ...NETWORK, ['KillMode', 'process']],
  // It listens on port 80.
  metad: [
    ...SHUT_IN,
    ...NETWORK,
    ['CapabilityBoundingSet', 'CAP_NET_BIND_SERVICE'],
    ['AmbientCapabilities', 'CAP_NET_BIND_SERVICE'],
  ],
  // It connects to sockets of root.
  kvmd: [
    ...without(SHUT_IN, 'UMask'),
    ['CapabilityBoundingSet', 'CAP_DAC_OVERRIDE'],
    ['RestrictAddressFamilies', 'AF_UNIX'],
    ['PrivateNetwork', 'yes'],
    ['IPAddressDeny', 'any'],
  ],
  // It reads devices and processes, and starts programs such as lvs and drbdsetup.
  mond: [
    ...without(SHUT_IN, 'PrivateDevices', 'ReadWritePaths', 'ProtectClock', 'SystemCallFilter', 'UMask', 'PrivateTmp'),
    ['ReadWritePaths', `${STATE} /run /tmp`],
    ['RestrictAddressFamilies', 'AF_UNIX AF_INET AF_INET6 AF_NETLINK AF_PACKET'],
    [
      'CapabilityBoundingSet',
      'CAP_DAC_OVERRIDE CAP_DAC_READ_SEARCH CAP_SYS_ADMIN CAP_SYS_PTRACE CAP_SYS_RAWIO CAP_NET_ADMIN CAP_FOWNER CAP_CHOWN',
    ],
  ],
  // It makes disks, mounts, and starts guests and administrators' scripts. Any further restriction would apply to these too.
  noded: [
    ['KillMode', 'process'],
    ['LockPersonality', 'yes'],
    ['KeyringMode', 'private'],
    [
      'CapabilityBoundingSet',
      '~CAP_SYS_TIME CAP_AUDIT_CONTROL CAP_AUDIT_READ CAP_WAKE_ALARM CAP_BLOCK_SUSPEND CAP_SYS_PACCT',
    ],
  ],
}

/** They only look at files and remove some. Those of a node have several owners. */
const CLEANER: Lines = [
  // Its logs have the modes that they always had.
  ...without(SHUT_IN, 'UMask'),
  ['RestrictAddressFamilies', 'AF_UNIX'],
  ['PrivateNetwork', 'yes'],
  ['IPAddressDeny', 'any'],
]
export const CLEANERS = {
  node: [...CLEANER, ['CapabilityBoundingSet', 'CAP_DAC_OVERRIDE']],
  master: [...CLEANER, ...NO_CAPABILITY],
} satisfies Record<string, Lines>
