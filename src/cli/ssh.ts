// How commands reach nodes over SSH: under the cluster's name, and nobody is asked.
import { type SshOptions, sshOptions } from '../lib/ssh'
import { PATH } from '../model/constants/paths'

/** The options that ssh and scp share; `quiet` keeps back what they would say themselves. */
export const clusterSshOptions = (cluster: string, options: Pick<SshOptions, 'port' | 'quiet' | 'ipv6'>): string[] =>
  sshOptions({ ...options, knownHosts: PATH.SSH_KNOWN_HOSTS_FILE, hostAlias: cluster })
