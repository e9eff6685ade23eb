// How nodes are reached over SSH, with Ganeti's options in Ganeti's order.
import * as path from 'node:path'
import type { Paths } from './paths'
import { SSH_KEY_TYPES, sshKeyFile } from './ssh-files'

export interface SshOptions {
  knownHosts: string
  /** The cluster's name, under which its nodes' common host key is known. */
  hostAlias?: string
  port?: number
  /** Keeps back what ssh itself would say. */
  quiet: boolean
  /** Whether ssh may ask for a password. Default: it may not. */
  mayAsk?: boolean
  /** How to treat a host whose key is not known. Default: it is refused. */
  unknownHosts?: 'ask' | 'accept'
  /** Nodes are reached by IPv6. Default: by IPv4. */
  ipv6?: boolean
}

/** The options that ssh and scp share. */
export const sshOptions = (options: SshOptions): string[] => [
  '-oEscapeChar=none',
  '-oHashKnownHosts=no',
  `-oGlobalKnownHostsFile=${options.knownHosts}`,
  '-oUserKnownHostsFile=/dev/null',
  '-oCheckHostIp=no',
  '-oConnectTimeout=10',
  ...(options.hostAlias === undefined ? [] : [`-oHostKeyAlias=${options.hostAlias}`]),
  ...(options.quiet ? ['-q'] : []),
  // Only that a host was not known is said otherwise.
  ...(options.unknownHosts === 'accept' ? ['-oLogLevel=ERROR'] : []),
  ...(options.port === undefined ? [] : [`-oPort=${options.port}`]),
  ...(options.mayAsk === true ? [] : ['-oBatchMode=yes']),
  `-oStrictHostKeyChecking=${HOST_KEYS[options.unknownHosts ?? 'refuse']}`,
  options.ipv6 === true ? '-6' : '-4',
]

const HOST_KEYS = { ask: 'ask', accept: 'no', refuse: 'yes' } as const

export interface NodeAddress {
  readonly name: string
  /** Needed for virtual nodes, whose names only their cluster knows. */
  readonly address: string | undefined
}

/** A line for the shell of another node, run as root there. A virtual node has keys of its own, and must be told which it is. */
export function sshCommand(paths: Paths, node: NodeAddress, options: SshOptions, line: string): string[] {
  const isVirtual = paths.root !== ''
  const own = [
    ...SSH_KEY_TYPES.map((type) => `-oIdentityFile=${paths.local(sshKeyFile(type))}`),
    ...(node.address === undefined ? [] : [`-oHostName=${node.address}`]),
  ]
  const environment = { GANETI_ROOTDIR: pathOnNode(paths, node.name, ''), GANETI_HOSTNAME: node.name }
  const settings = Object.entries(environment).map(([name, value]) => `export ${name}=${quoteForShell(value)};`)
  return [
    'ssh',
    ...sshOptions(options),
    ...(isVirtual ? own : []),
    '--',
    `root@${node.name}`,
    [...(isVirtual ? settings : []), line].join(' '),
  ]
}

/** Where a file of Ganeti's layout is on another node. */
export const pathOnNode = (paths: Paths, node: string, file: string): string =>
  paths.root === '' ? file : path.join(path.dirname(paths.root), node, file)

/** A word for a shell, quoted only where needed. */
export const quoteForShell = (word: string): string =>
  /^[-.,=:/_+@A-Za-z0-9]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
