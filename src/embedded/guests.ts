// The guests of an embedded cluster across stop and start: they are shut down with the cluster, like machines whose
// host is switched off, and started again if they should run.
import { errorText } from '../lib/system-failure'
import { instanceDict } from '../config/rpc-dicts'
import { recordValues } from '../config/records'
import { nanoseconds, systemClock as clock } from '../lib/clock'
import type { ConfigData } from '../model/config'
import { EMBEDDED_GUEST_S, EMBEDDED_RESUME_S } from '../model/limits/embedded'
import type { Master } from '../rpc/luxi/master'
import type { NodeClient } from '../rpc/node/client'
import type { ReasonTrail } from '../rpc/node/dicts'
import { awaitJob } from '../bootstrap/end-jobs'

type Say = (text: string) => void

const SOURCE = 'gantry:embedded'

/** Starts each instance that should run and does not, and waits, so that a ready cluster has its guests. */
export async function resumeGuests(master: Master, say: Say): Promise<void> {
  const { data } = await master.query('instance', ['name', 'admin_state', 'oper_state'], null)
  const asleep = data.flatMap(([name, desired, runs]) =>
    desired?.[1] === 'up' && runs?.[0] === 0 && runs[1] === false ? [String(name?.[1])] : [],
  )
  if (asleep.length === 0) return
  say(`starting ${asleep.length === 1 ? 'instance' : 'instances'} ${asleep.join(', ')} again`)
  const reason = [[SOURCE, 'the cluster was started', nanoseconds(clock)]]
  const answers = await master.submitManyJobs(
    asleep.map((name) => [{ OP_ID: 'OP_INSTANCE_STARTUP', instance_name: name, reason }]),
  )
  const deadline_ms = clock.monotonic_ms() + EMBEDDED_RESUME_S * 1000
  for (const [at, [ok, answer]] of answers.entries()) {
    const name = asleep[at] ?? ''
    if (!ok) say(`${name} is not started: ${answer}`)
    else await tellStart(master, name, answer, deadline_ms, say)
  }
}

async function tellStart(master: Master, name: string, job: number, deadline_ms: number, say: Say): Promise<void> {
  await awaitJob(master, clock, job, (deadline_ms - clock.monotonic_ms()) / 1000)
  const [status] = (await master.queryJobs([job], ['status']))[0] ?? []
  if (status === 'error') say(`${name} did not start; "gnt job info ${job}" says why`)
  else if (status !== 'success') say(`${name} takes a long time to start; "gnt job watch ${job}" follows it`)
}

/** Asks every guest to shut down, and switches off those that do not. The configuration still says that they should run. */
export async function shutDownGuests(config: ConfigData, nodes: NodeClient, say: Say): Promise<void> {
  const { enabled_hypervisors, hvparams } = config.cluster
  const targets = recordValues(config.nodes)
  const lists = await nodes.all(targets, 'all_instances_info', [[...enabled_hypervisors], hvparams])
  const instances = new Map(recordValues(config.instances).map((instance) => [instance.name, instance]))
  const stops = targets.flatMap((node) => {
    const list = lists.get(node.uuid)
    if (list?.ok !== true) return []
    return Object.keys(list.payload).flatMap((name) => {
      const instance = instances.get(name)
      return instance === undefined ? [] : [{ node, instance }]
    })
  })
  if (stops.length > 0) say(`shutting down ${stops.map(({ instance }) => instance.name).join(', ')}`)
  await Promise.all(
    stops.map(async ({ node, instance }) => {
      const reason: ReasonTrail = [[SOURCE, 'the cluster is stopped', nanoseconds(clock)]]
      try {
        await nodes.one(node, 'instance_shutdown', [instanceDict(config, instance), EMBEDDED_GUEST_S, reason])
      } catch (error) {
        say(errorText(error))
      }
    }),
  )
}
