// Daemons, conditions of units and ssconf files know a node by its machine's own name, so the cluster must have the same.
import { PATH } from '../model/constants/paths'

/** Undefined: it is the same. */
export function otherName(own: string, inCluster: string): string | undefined {
  if (own === inCluster) return undefined
  return (
    `the machine calls itself '${own}' (${PATH.ETC_HOSTNAME}), and the cluster '${inCluster}': the daemons would not know that they are meant. ` +
    `Let it have this name, with: hostnamectl set-hostname ${inCluster} && systemctl daemon-reload`
  )
}
