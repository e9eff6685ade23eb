// One round of automatic repairs: follows the running ones, and starts those that the tags allow. The caller, a command
// or a daemon, supplies the way to submit jobs and to write the report.
import { type Clock, seconds } from '../lib/clock'
import type { Random } from '../lib/random'
import type { Master } from '../rpc/luxi/master'
import type { WireOpCode } from '../rpc/luxi/calls'
import {
  BadRepairTags,
  type Health,
  type ProposedRepair,
  type Repair,
  type RepairPolicy,
  type RepairState,
  type RepairType,
  advance,
  afterJobs,
  allowed,
  proposeRepair,
  refuse,
  repairOf,
  repairPolicy,
} from './auto-repair'

export interface RepairSurroundings {
  readonly master: Pick<Master, 'query' | 'queryClusterInfo' | 'queryJobs'>
  readonly clock: Clock
  readonly random: Random
  /** The delay before a repair, so that its tag is set before its job takes the instance's locks. */
  readonly delay_s: number
  /** Prints a line of the report, in `harep`'s words. */
  say(text: string): void
  /** A time for the report. */
  timeText(time_s: number): string
  /** Submits a job with these opcodes. Resolves to its number, or to none if there is nothing to do. */
  submit(ops: readonly WireOpCode[]): Promise<number[]>
  /** Runs a job and waits for it. Throws if it fails. */
  carryOut(op: WireOpCode): Promise<void>
}

/** The round cannot go on; the text says why, and what to do. */
export class RepairFailure extends Error {}

interface Patient extends Health {
  readonly repair: Repair
  readonly policy: RepairPolicy
}

/** Returns the number of instances in each state afterwards. */
export async function repairRound(surroundings: RepairSurroundings): Promise<Map<RepairState, number>> {
  const doctor = new Doctor(surroundings)
  const patients = await readPatients(surroundings.master, seconds(surroundings.clock))
  const followed: Patient[] = []
  for (const patient of patients) followed.push({ ...patient, repair: await doctor.follow(patient) })
  const counts = new Map<RepairState, number>()
  for (const patient of followed) {
    const { state } = await doctor.treat(patient)
    counts.set(state, (counts.get(state) ?? 0) + 1)
  }
  return counts
}

/** The instances of the cluster, in its order. */
async function readPatients(master: RepairSurroundings['master'], now_s: number): Promise<Patient[]> {
  const values = async (what: 'node' | 'group' | 'instance', fields: readonly string[]) =>
    (await master.query(what, fields, null)).data.map((row) => row.map(([, value]) => value))
  const nodes = await values('node', ['name', 'offline', 'drained', 'vm_capable', 'group.uuid'])
  const groups = await values('group', ['uuid', 'tags'])
  const instances = await values('instance', ['name', 'pnode', 'snodes', 'disk_template', 'tags'])
  const clusterTags = strings((await master.queryClusterInfo())['tags'])
  const groupTags = new Map(groups.map(([uuid, tags]) => [uuid, strings(tags)]))
  const groupOf = new Map(nodes.map(([name, , , , group]) => [name, group]))
  // As in all of Ganeti's tools, a drained node counts as gone.
  const gone = new Set(
    nodes.flatMap(([name, offline, drained, capable]) => (offline || drained || !capable ? [name] : [])),
  )
  return instances.map(([name, primary, secondaries, template, tags]) => {
    const own = strings(tags)
    return {
      name: String(name),
      template: String(template),
      primaryOffline: gone.has(primary),
      secondaryOffline: gone.has(strings(secondaries)[0]),
      policy: repairPolicy([own, groupTags.get(groupOf.get(primary)) ?? [], clusterTags], now_s),
      repair: readRepair(String(name), own),
    }
  })
}

const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []

function readRepair(name: string, tags: readonly string[]): Repair {
  try {
    return repairOf(name, tags)
  } catch (error) {
    throw error instanceof BadRepairTags ? new RepairFailure(`when parsing auto-repair tags: ${error.message}`) : error
  }
}

class Doctor {
  constructor(private readonly surroundings: RepairSurroundings) {}

  /** Checks whether the jobs of a repair have ended. */
  async follow({ name, repair }: Patient): Promise<Repair> {
    if (repair.state !== 'Pending repair' || repair.task === undefined) return repair
    const rows = await this.surroundings.master.queryJobs(repair.task.jobs, ['status'])
    const statuses = rows.map((row, at) => {
      if (typeof row?.[0] === 'string') return row[0]
      const hint = `see what became of ${name}, and remove its tag ${repair.tag}`
      throw new RepairFailure(`could not check job status: job ${repair.task?.jobs[at]} was archived; ${hint}`)
    })
    const after = afterJobs(repair, statuses, seconds(this.surroundings.clock))
    if (after === repair) return repair
    this.surroundings.say(`Moving ${name} from "${repair.state}" to "${after.state}"\n`)
    return this.commit(name, after)
  }

  async treat(patient: Patient): Promise<Repair> {
    const { name, repair, policy } = patient
    const proposed = proposeRepair(patient)
    if (proposed === undefined || repair.state !== 'Healthy') return repair
    if (policy.kind !== 'enabled') {
      this.surroundings.say(`Not repairing ${name} because it's in state ${this.policyText(policy)}\n`)
      return repair
    }
    const task = { type: proposed.type, uuid: this.surroundings.random.uuid(), time_s: this.now_s(), jobs: [] }
    if (!allowed(proposed.type, policy.type)) {
      const [desired, most] = [proposed.type, policy.type].map((type) => TYPE_NAMES[type])
      this.surroundings.say(
        `Not performing a repair of type ${desired} on ${name} because only repairs up to ${most} are allowed\n`,
      )
      return this.commit(name, refuse(repair, task))
    }
    this.surroundings.say(`Executing ${TYPE_NAMES[proposed.type]} repair on ${name}\n`)
    const jobs = await this.submit(proposed)
    return this.commit(name, advance(repair, { ...task, jobs }))
  }

  private submit({ ops }: ProposedRepair): Promise<number[]> {
    const { delay_s, submit } = this.surroundings
    return submit(delay_s > 0 ? [delayed(delay_s), ...ops] : ops)
  }

  /** Sets the tag of the new state, then removes the tags of older states. */
  private async commit(name: string, repair: Repair): Promise<Repair> {
    const { tag, obsolete } = repair
    if (tag !== undefined) {
      this.surroundings.say(`>>> Adding the following tag to ${name}:\n"${tag}"\n`)
      await this.surroundings.carryOut({ OP_ID: 'OP_TAGS_SET', kind: 'instance', tags: [tag], name })
    }
    if (obsolete.length > 0) {
      const lines = obsolete.map((one) => `"${one}"\n`).join('')
      this.surroundings.say(`>>> Removing the following tags from ${name}:\n${lines}`)
      await this.surroundings.carryOut({ OP_ID: 'OP_TAGS_DEL', kind: 'instance', tags: obsolete, name })
    }
    return { ...repair, obsolete: [] }
  }

  private now_s(): number {
    return Math.floor(seconds(this.surroundings.clock))
  }

  private policyText(policy: Exclude<RepairPolicy, { kind: 'enabled' }>): string {
    if (policy.kind === 'not enabled') return 'ArNotEnabled'
    const { until_s } = policy
    return `ArSuspended ${until_s === Infinity ? 'Forever' : `(Until ${this.surroundings.timeText(until_s)})`}`
  }
}

const delayed = (duration: number): WireOpCode => ({
  OP_ID: 'OP_TEST_DELAY',
  duration,
  on_master: true,
  on_nodes: [],
  repeat: 0,
  interruptible: false,
  no_locks: false,
})

/** The names in Ganeti's program. */
const TYPE_NAMES: Readonly<Record<RepairType, string>> = {
  'fix-storage': 'ArFixStorage',
  migrate: 'ArMigrate',
  failover: 'ArFailover',
  reinstall: 'ArReinstall',
}
