// gnt-instance repair: a job for each instance, and the jobs that it submits. Ganeti has no such command.
import { isObject } from '../../lib/shapes/shape'
import { OpInstanceRepair } from '../../opcodes/repair'
import { type Call, many, type Tool } from '../command'
import { confirmMany } from '../input/confirm'
import { parameter } from '../input/option'
import { JOB_OPTIONS, oIallocator, oIgnoreIpolicy } from '../input/options'
import { selectInstances } from '../input/select'
import { EXIT } from '../outcome'
import { opcodeOf } from '../submit/submit'
import { waitForHandedOn } from './move'
import { oForceMultiple, SELECT_OPTIONS } from './options'

const oFailover = parameter(OpInstanceRepair, 'failover', {
  help: 'start instances on their other node whose primary node is marked offline',
})

async function repairInstances(call: Call): Promise<number> {
  const { options, terminal } = call
  const { names, several } = await selectInstances(call)
  if (names.length === 0) {
    terminal.out('Cluster is empty, nothing to repair')
    return EXIT.ok
  }
  const sure = !several || (await confirmMany(call, { names, kind: 'instances', verb: 'repair' }, oForceMultiple))
  if (!sure) return EXIT.failure
  const jobs = names.map((instance_name) => ({
    name: instance_name,
    ops: [opcodeOf(OpInstanceRepair, { ...options.parametersOf(OpInstanceRepair), instance_name })],
  }))
  const outcomes = await call.jobs.runMany(jobs, several)
  let good = outcomes.every(({ ok }) => ok)
  if (options.flag('submit_only')) return good ? EXIT.ok : EXIT.failure
  for (const { ok, result } of outcomes) {
    const [report]: unknown[] = ok && Array.isArray(result) ? result : []
    if (!isObject(report)) continue
    // The job's messages have already named it.
    if (Array.isArray(report['left']) && report['left'].length > 0) good = false
    if ((await waitForHandedOn(call, report)) !== EXIT.ok) good = false
  }
  return good ? EXIT.ok : EXIT.failure
}

export const REPAIR_COMMAND: Tool['commands'][number] = {
  name: 'repair',
  help: 'find what is wrong with disks and nodes of instances, and mend it; --dry-run only tells',
  usage: '[--failover] {--all | <instance-name>...}',
  args: [many('instance name')],
  options: [oFailover, oIallocator, oIgnoreIpolicy, ...SELECT_OPTIONS, ...JOB_OPTIONS],
  run: repairInstances,
}
