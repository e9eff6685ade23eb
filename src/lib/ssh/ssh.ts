// Reaches nodes over SSH, with Ganeti's options in Ganeti's order.
import * as path from 'node:path'
import type { Paths } from '../paths'
import { SSH_KEY_TYPES, sshKeyFile } from './files'

export interface SshOptions {
  knownHosts: string
  /** The cluster's name, under which ssh knows the nodes' common host key. */
  hostAlias?: string
  port?: number
  /** Suppresses ssh's own messages. */
  quiet: boolean
  /** Whether ssh may ask for a password. Default: no. */
  mayAsk?: boolean
  /** What to do about an unknown host key. Default: refuse. */
  unknownHosts?: 'ask' | 'accept'
  /** Use IPv6. Default: IPv4. */
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
  // Only suppresses the message about an unknown host.
  ...(options.unknownHosts === 'accept' ? ['-oLogLevel=ERROR'] : []),
  ...(options.port === undefined ? [] : [`-oPort=${options.port}`]),
  ...(options.mayAsk === true ? [] : ['-oBatchMode=yes']),
  `-oStrictHostKeyChecking=${HOST_KEYS[options.unknownHosts ?? 'refuse']}`,
  options.ipv6 === true ? '-6' : '-4',
]

const HOST_KEYS = { ask: 'ask', accept: 'no', refuse: 'yes' } as const

export interface NodeAddress {
  readonly name: string
  /** Needed for virtual nodes: only their cluster knows their names. */
  readonly address: string | undefined
}

/**
 * Makes a command that runs a shell line on another node as root. A virtual node has its own keys, and must be told its
 * name.
 */
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

/** The path on another node of a file of Ganeti's layout. */
export const pathOnNode = (paths: Paths, node: string, file: string): string =>
  paths.root === '' ? file : path.join(path.dirname(paths.root), node, file)

/** A word for a shell, quoted only where needed. */
export const quoteForShell = (word: string): string =>
  /^[-.,=:/_+@A-Za-z0-9]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
