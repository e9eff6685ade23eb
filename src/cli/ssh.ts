// How commands reach nodes over SSH: under the cluster's name, and without asking.
import { type SshOptions, sshOptions } from '../lib/ssh/ssh'
import { PATH } from '../model/constants/paths'

/** Options shared by ssh and scp; `quiet` suppresses their own messages. */
export const clusterSshOptions = (cluster: string, options: Pick<SshOptions, 'port' | 'quiet' | 'ipv6'>): string[] =>
  sshOptions({ ...options, knownHosts: PATH.SSH_KNOWN_HOSTS_FILE, hostAlias: cluster })
