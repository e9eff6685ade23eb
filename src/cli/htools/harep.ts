// `harep`: repairs instances whose nodes are offline, as far as tags allow it, and keeps in tags how far each repair is.
import {
  BadRepairTags,
  type Health,
  type ProposedRepair,
  type Repair,
  type RepairPolicy,
  type RepairType,
  advance,
  afterJobs,
  allowed,
  proposeRepair,
  refuse,
  repairOf,
  repairPolicy,
} from '../../maintenance/auto-repair'
import { nanoseconds, seconds } from '../../lib/clock'
import type { Master, WireOpCode } from '../../rpc/luxi/calls'
import { formatCtime } from '../format'
import { loadLocal } from './load'
import { type Parsed, has, numberOf, parseOptions, textOf } from './options'
import { PROGRAM_VERSION, type Terminal, failure } from './terminal'
import { submitJobs, waitForJobs } from './jobs'

const OPTIONS = 'luxi job-delay reason dry-run version help help-completion'

interface Patient extends Health {
  readonly repair: Repair
  readonly policy: RepairPolicy
}

export async function harep(args: readonly string[], terminal: Terminal): Promise<number> {
  const options = parseOptions('harep', OPTIONS, args)
  if (options.rest.length > 0) throw failure("this program doesn't take any arguments.")
  const delay_s = numberOf(options, 'job-delay') ?? 10
  // Nothing is decided by its figures, but who repairs is told when they cannot be right.
  await loadLocal(options, terminal)
  const master = terminal.connect(textOf(options, 'luxi'))
  const doctor = new Doctor(master, terminal, options, delay_s)
  const patients = await readPatients(master, seconds(terminal.clock))
  const followed: Patient[] = []
  for (const patient of patients) followed.push({ ...patient, repair: await doctor.follow(patient) })
  const counts = new Map<string, number>()
  for (const patient of followed) {
    const { state } = await doctor.treat(patient)
    counts.set(state, (counts.get(state) ?? 0) + 1)
  }
  const lines = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([state, count]) => `${state}: ${count}\n`)
  terminal.out(`${LINE}Instance status count\n${LINE}${lines.join('')}`)
  return 0
}

const LINE = '---------------------\n'

/** The instances of the cluster, in its order. */
async function readPatients(master: Master, now_s: number): Promise<Patient[]> {
  const values = async (what: 'node' | 'group' | 'instance', fields: readonly string[]) =>
    (await master.query(what, fields, null)).data.map((row) => row.map(([, value]) => value))
  const nodes = await values('node', ['name', 'offline', 'drained', 'vm_capable', 'group.uuid'])
  const groups = await values('group', ['uuid', 'tags'])
  const instances = await values('instance', ['name', 'pnode', 'snodes', 'disk_template', 'tags'])
  const clusterTags = strings((await master.queryClusterInfo())['tags'])
  const groupTags = new Map(groups.map(([uuid, tags]) => [uuid, strings(tags)]))
  const groupOf = new Map(nodes.map(([name, , , , group]) => [name, group]))
  // As in all of Ganeti's tools, a drained node counts as one that is away.
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
    throw error instanceof BadRepairTags ? failure(`when parsing auto-repair tags: ${error.message}`) : error
  }
}

class Doctor {
  constructor(
    private readonly master: Master,
    private readonly terminal: Terminal,
    private readonly options: Parsed,
    private readonly delay_s: number,
  ) {}

  /** Looks whether the jobs of a repair have ended. */
  async follow({ name, repair }: Patient): Promise<Repair> {
    if (repair.state !== 'Pending repair' || repair.task === undefined) return repair
    const rows = await this.master.queryJobs(repair.task.jobs, ['status'])
    const statuses = rows.map((row, at) => {
      if (typeof row?.[0] === 'string') return row[0]
      const hint = `see what became of ${name}, and remove its tag ${repair.tag}`
      throw failure(`could not check job status: job ${repair.task?.jobs[at]} was archived; ${hint}`)
    })
    const after = afterJobs(repair, statuses, seconds(this.terminal.clock))
    if (after === repair) return repair
    this.terminal.out(`Moving ${name} from "${repair.state}" to "${after.state}"\n`)
    return this.commit(name, after)
  }

  async treat(patient: Patient): Promise<Repair> {
    const { name, repair, policy } = patient
    const proposed = proposeRepair(patient)
    if (proposed === undefined || repair.state !== 'Healthy') return repair
    if (policy.kind !== 'enabled') {
      this.terminal.out(`Not repairing ${name} because it's in state ${policyText(policy)}\n`)
      return repair
    }
    const task = { type: proposed.type, uuid: this.terminal.random.uuid(), time_s: this.now_s(), jobs: [] }
    if (!allowed(proposed.type, policy.type)) {
      const [wanted, most] = [proposed.type, policy.type].map((type) => TYPE_NAMES[type])
      this.terminal.out(
        `Not performing a repair of type ${wanted} on ${name} because only repairs up to ${most} are allowed\n`,
      )
      return this.commit(name, refuse(repair, task))
    }
    this.terminal.out(`Executing ${TYPE_NAMES[proposed.type]} repair on ${name}\n`)
    const jobs = await this.submit(proposed)
    return this.commit(name, advance(repair, { ...task, jobs }))
  }

  /** Behind a delay, so that the tag is set before the job takes the instance's locks. */
  private async submit({ ops }: ProposedRepair): Promise<number[]> {
    const all = this.delay_s > 0 ? [delayed(this.delay_s), ...ops] : ops
    if (!has(this.options, 'dry-run')) return submitJobs(this.master, [this.marked(all)])
    this.terminal.out(`jobs: ${JSON.stringify([all])}\n`)
    return []
  }

  /** Sets the tag that tells the new state, then takes away those that tell older ones. */
  private async commit(name: string, repair: Repair): Promise<Repair> {
    const { tag, obsolete } = repair
    if (tag !== undefined) {
      this.terminal.out(`>>> Adding the following tag to ${name}:\n"${tag}"\n`)
      await this.run({ OP_ID: 'OP_TAGS_SET', kind: 'instance', tags: [tag], name })
    }
    if (obsolete.length > 0) {
      const lines = obsolete.map((one) => `"${one}"\n`).join('')
      this.terminal.out(`>>> Removing the following tags from ${name}:\n${lines}`)
      await this.run({ OP_ID: 'OP_TAGS_DEL', kind: 'instance', tags: obsolete, name })
    }
    return { ...repair, obsolete: [] }
  }

  private async run(op: WireOpCode): Promise<void> {
    if (has(this.options, 'dry-run')) return
    const jobs = await waitForJobs(this.master, await submitJobs(this.master, [this.marked([op])]))
    const failed = jobs.filter(({ status }) => status !== 'success').map(({ id, status }) => `${id}=>${status}`)
    if (failed.length > 0) throw failure(`The following jobs failed: ${failed.join(', ')}`)
  }

  private marked(ops: readonly WireOpCode[]): WireOpCode[] {
    const text = textOf(this.options, 'reason') ?? `harep ${PROGRAM_VERSION} called`
    const reason = [['harep', text, nanoseconds(this.terminal.clock)]]
    return ops.map((op) => ({ ...op, comment: `automated repairs by harep ${PROGRAM_VERSION}`, reason }))
  }

  private now_s(): number {
    return Math.floor(seconds(this.terminal.clock))
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

/** As Ganeti's program calls them. */
const TYPE_NAMES: Readonly<Record<RepairType, string>> = {
  'fix-storage': 'ArFixStorage',
  migrate: 'ArMigrate',
  failover: 'ArFailover',
  reinstall: 'ArReinstall',
}

function policyText(policy: Exclude<RepairPolicy, { kind: 'enabled' }>): string {
  if (policy.kind === 'not enabled') return 'ArNotEnabled'
  return `ArSuspended ${policy.until_s === Infinity ? 'Forever' : `(Until ${formatCtime(policy.until_s)})`}`
}
