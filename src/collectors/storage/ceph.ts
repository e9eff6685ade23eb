// The state of a Ceph pool.
import { type NodeSources, type Status, fieldsOf, listOf } from '../report'
import { type FoundStorage, fullness, unmeasured } from './found-storage'

export async function cephStorage(sources: NodeSources, name: string): Promise<FoundStorage> {
  const [health, usage] = await Promise.all([ask(sources, 'health', 'detail'), ask(sources, 'df')])
  const pool = listOf(usage['pools'])
    .map(fieldsOf)
    .find((one) => one['name'] === name)
  if (pool === undefined) {
    return unmeasured({ code: 4, message: 'there is no such pool' })
  }
  const { stored, max_avail } = fieldsOf(pool['stats'])
  const [used_bytes, free_bytes] = [Number(stored ?? 0), Number(max_avail ?? 0)]
  const details = { health: health['status'], problems: Object.keys(fieldsOf(health['checks'])) }
  const status = healthStatus(health) ?? fullness(free_bytes)
  return { size_bytes: used_bytes + free_bytes, free_bytes, status, details }
}

const ask = async (sources: NodeSources, ...question: readonly string[]) =>
  fieldsOf(JSON.parse(await sources.run(['ceph', '--connect-timeout', '5', '--format', 'json', ...question])))

/** Ceph repairs faults of the level `warning` by itself, if it can. */
function healthStatus(health: Readonly<Record<string, unknown>>): Status | undefined {
  if (health['status'] === 'HEALTH_OK') return undefined
  const texts = Object.values(fieldsOf(health['checks'])).map(
    (check) => fieldsOf(fieldsOf(check)['summary'])['message'],
  )
  const message = `the cluster of Ceph is degraded: ${texts.join('; ')}`
  return { code: health['status'] === 'HEALTH_WARN' ? 1 : 4, message }
}
