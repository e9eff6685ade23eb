// How nodes are reached over SSH, as Ganeti does: known hosts only, under the cluster's name, and nobody is asked.
const KNOWN_HOSTS = '/var/lib/ganeti/known_hosts'

/** The options that ssh and scp share; `quiet` keeps back what they would say themselves. */
export const sshOptions = (cluster: string, { port, quiet }: { port?: number; quiet: boolean }): string[] => [
  '-oEscapeChar=none',
  '-oHashKnownHosts=no',
  `-oGlobalKnownHostsFile=${KNOWN_HOSTS}`,
  '-oUserKnownHostsFile=/dev/null',
  '-oCheckHostIp=no',
  '-oConnectTimeout=10',
  `-oHostKeyAlias=${cluster}`,
  ...(quiet ? ['-q'] : []),
  ...(port === undefined ? [] : [`-oPort=${port}`]),
  '-oBatchMode=yes',
  '-oStrictHostKeyChecking=yes',
  '-4',
]
