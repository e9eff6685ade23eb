// How far each daemon is shut in by systemd. What a daemon cannot have, and why, stands in docs/install.md beside its score.
import { PATH } from '../../src/model/constants/paths'

type Lines = readonly (readonly [key: string, value: string])[]

const STATE = [PATH.DATA_DIR, '/run/ganeti', PATH.LOG_DIR].map((directory) => `-${directory}`).join(' ')

/** Nothing of this is in the way of a program that reads files and answers on sockets. V8 makes code while it runs, so memory stays executable. */
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

export const SANDBOX: Readonly<Record<string, Lines>> = {
  confd: [...SHUT_IN, ...NO_CAPABILITY, ...NETWORK],
  wconfd: [...SHUT_IN, ...NO_CAPABILITY, ...NETWORK],
  maintd: [...SHUT_IN, ...NO_CAPABILITY, ...NETWORK],
  rapi: [...SHUT_IN, ...NO_CAPABILITY, ...NETWORK],
  // Processes of jobs outlive it, and the next luxid finds them.
  luxid: [...SHUT_IN, ...NO_CAPABILITY, ...NETWORK, ['KillMode', 'process']],
  // Port 80.
  metad: [
    ...SHUT_IN,
    ...NETWORK,
    ['CapabilityBoundingSet', 'CAP_NET_BIND_SERVICE'],
    ['AmbientCapabilities', 'CAP_NET_BIND_SERVICE'],
  ],
  // Root's sockets are what it listens to.
  kvmd: [
    ...without(SHUT_IN, 'UMask'),
    ['CapabilityBoundingSet', 'CAP_DAC_OVERRIDE'],
    ['RestrictAddressFamilies', 'AF_UNIX'],
    ['PrivateNetwork', 'yes'],
    ['IPAddressDeny', 'any'],
  ],
  // It looks at devices, at processes, and starts programs such as lvs and drbdsetup.
  mond: [
    ...without(SHUT_IN, 'PrivateDevices', 'ReadWritePaths', 'ProtectClock', 'SystemCallFilter', 'UMask', 'PrivateTmp'),
    ['ReadWritePaths', `${STATE} /run /tmp`],
    ['RestrictAddressFamilies', 'AF_UNIX AF_INET AF_INET6 AF_NETLINK AF_PACKET'],
    [
      'CapabilityBoundingSet',
      'CAP_DAC_OVERRIDE CAP_DAC_READ_SEARCH CAP_SYS_ADMIN CAP_SYS_PTRACE CAP_SYS_RAWIO CAP_NET_ADMIN CAP_FOWNER CAP_CHOWN',
    ],
  ],
  // It makes disks, mounts, starts guests and scripts of administrators, so it has nothing that would bind those.
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
