// Why no snapshot of an instance can be made, which only its node knows. A plan asks it.
import { useQuery } from '@tanstack/react-query'
import { useMay } from '../../api/session'
import { planOf, reasonsOf } from '../../parts/use-plan'
import { snapshotRequest } from './actions/disks'
import type { Instance } from './instance'

/** Storage whose nodes answer without making one. */
const ASKED: ReadonlySet<unknown> = new Set(['file', 'sharedfile', 'gluster', 'plain', 'drbd'])
const STALE_MS = 60_000

export function useSnapshotProblem(instance: Instance | undefined): string | undefined {
  const may = useMay()('instances.snapshot')
  const disks = instance?.['disk.sizes']?.length ?? 0
  const { data } = useQuery({
    queryKey: ['instances', 'one', instance?.name, 'snapshots', 'possible', instance?.pnode],
    // A name that no snapshot has.
    queryFn: () => planOf(snapshotRequest(instance as Instance, { snapshot_name: `plan-${Date.now()}` })),
    enabled: may && disks > 0 && instance?.forthcoming !== true && ASKED.has(instance?.disk_template),
    staleTime: STALE_MS,
    retry: false,
  })
  return data?.possible === false ? reasonsOf(data).join('. ') : undefined
}
