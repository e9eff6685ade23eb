// The settings of a new cluster: the options of gnt-cluster init, checked as changes of the defaults.
import type { ChangeContext } from '../../../config/edit'
import type { FirstFields } from '../../../model/cluster'
import { initialConfig } from '../../../config/init'
import type { Cluster } from '../../../model/config'
import { bitsOf, familyOf, type IpVersion } from '../../../model/ip'
import { DEFAULT_ENABLED_DISK_TEMPLATES } from '../../../model/constants/disks'
import { OpClusterSetParams } from '../../../opcodes/cluster'
import { fill } from '../../logical-unit'
import type { JobEnvironment } from '../../environment'
import { checkAllocator } from './fields'
import { fieldsOf } from './set-params'

export async function firstFields(
  input: Readonly<Record<string, unknown>>,
  context: ChangeContext & Pick<JobEnvironment, 'masterFile'>,
  ipVersion: IpVersion,
): Promise<FirstFields> {
  const op = fill(OpClusterSetParams, { OP_ID: OpClusterSetParams.id, ...input })
  const { enabled_disk_templates = DEFAULT_ENABLED_DISK_TEMPLATES } = op
  await checkAllocator(context, op.default_iallocator)
  const nobody = { clusterName: '', masterIp: '', masterName: '', primaryIp: '', masterCertDigest: '' }
  const network = { primary_ip_family: familyOf(ipVersion), master_netmask: bitsOf(ipVersion) }
  const { cluster, ...rest } = initialConfig({ ...nobody, cluster: { enabled_disk_templates, ...network } }, context)
  const fields = Object.entries(fieldsOf({ cluster, ...rest }, op)).map(([name, value]) => [name, value ?? undefined])
  return {
    ...network,
    enabled_disk_templates,
    enabled_hypervisors: cluster.enabled_hypervisors,
    master_netdev: cluster.master_netdev,
    modify_etc_hosts: cluster.modify_etc_hosts,
    // These are the cluster's fields, without those that null removes.
    ...(Object.fromEntries(fields) as Partial<Cluster>),
  }
}
