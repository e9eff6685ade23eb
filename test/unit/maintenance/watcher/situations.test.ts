// Situations of a real Ganeti 3.0.2, with what its watcher did about them. Ours submits the same jobs for the same reasons, remembers the
// same, and leaves the same files behind.
import { pathsOf } from '../../../../src/lib/paths'
import { silentLog } from '../../../../src/lib/log'
import { runWatcher, type WatcherOptions } from '../../../../src/maintenance/watcher/watcher'
import type { Memory } from '../../../../src/maintenance/watcher/memory'
import type { QueryResource, WireOpCode } from '../../../../src/rpc/luxi/calls'
import type { Master } from '../../../../src/rpc/luxi/master'
import situations from '../../../golden/watcher/situations.json'
import { FakeMaster } from '../../../support/fake-master'
import { clockAt } from '../../../support/instant-clock'
import { MemoryDisk } from '../../config/memory-disk'

interface Op extends WireOpCode {
  readonly status: string
  readonly result: unknown
}
interface Situation {
  readonly name: string
  readonly what: string
  readonly args: readonly string[]
  readonly exit_code: number
  readonly time: number
  readonly group: string
  readonly group_name: string
  readonly paused: boolean
  readonly queries: Readonly<Record<string, readonly (readonly unknown[])[]>>
  readonly memory: Memory | null
  readonly jobs: readonly (readonly Op[])[]
  readonly memory_after: Memory | null
  readonly instance_status: string | null
  readonly all_status: string | null
}

const recorded = situations as unknown as Situation[]
const paths = pathsOf('', 'node1.watch.example')

test.each(recorded)('$name: $what', async (situation) => {
  const { run, disk, submitted, master } = surroundings(situation)
  expect(await run()).toBe(situation.exit_code)
  expect(submitted.map((ops) => ops.map(outline)).sort()).toEqual(situation.jobs.map((ops) => ops.map(outline)).sort())
  const text = (file: string) => disk.files.get(file)?.toString('utf8')
  const memory = JSON.parse(text(`${paths.dataDir}/watcher.${situation.group}.data`) ?? 'null') as Memory | null
  expect(withoutTimes(memory)).toEqual(withoutTimes(situation.memory_after))
  if (situation.paused && !situation.args.includes('--ignore-pause')) return
  expect(text(`${paths.dataDir}/watcher.${situation.group}.instance-status`)).toBe(situation.instance_status)
  expect(text('/var/run/ganeti/instance-status')).toBe(situation.all_status)
  // Verifications leave nothing behind in the list of jobs.
  const verifications = submitted.filter(([op]) => op?.OP_ID === 'OP_GROUP_VERIFY_DISKS').length
  expect(master.calls.filter(([call]) => call === 'archiveJob')).toHaveLength(verifications)
})

const outline = ({ OP_ID, instance_name, group_name, admin_state_source, priority, reason }: WireOpCode) => ({
  ...{ OP_ID, instance_name, group_name, admin_state_source: admin_state_source ?? undefined },
  ...(OP_ID === 'OP_GROUP_VERIFY_DISKS' && { priority }),
  // The recording has the words of the first entry, ours has entries with their times.
  reason: JSON.stringify(
    Array.isArray(reason) && Array.isArray(reason[0]) ? (reason[0] as unknown[]).slice(0, 2) : reason,
  ),
})

function withoutTimes(memory: Memory | null): unknown {
  if (memory === null) return null
  const counts = ({ restart_count, cleanup_count }: Memory['instance'][string]) => ({ restart_count, cleanup_count })
  return {
    node: memory.node,
    instance: Object.fromEntries(Object.entries(memory.instance).map(([name, tries]) => [name, counts(tries)])),
  }
}

function surroundings(situation: Situation) {
  const disk = new MemoryDisk()
  const put = (file: string, text: string) => void disk.files.set(file, Buffer.from(text))
  put(paths.ssconf('master_node'), 'node1.watch.example\n')
  put(paths.ssconf('nodegroups'), `${situation.group} ${situation.group_name}\n`)
  if (situation.memory !== null)
    put(`${paths.dataDir}/watcher.${situation.group}.data`, JSON.stringify(situation.memory))
  if (situation.paused) put(paths.watcherPause, String(Math.floor(situation.time) + 3600))
  const master = new ReplayedMaster(situation)
  const clock = clockAt(situation.time * 1000)
  const options: WatcherOptions = {
    ...{ group: undefined, jobAge_s: 21600, waitForGroups: true, strict: true, why: 'a test' },
    spare: false,
    ignorePause: situation.args.includes('--ignore-pause'),
    verifyDisks: !situation.args.includes('--no-verify-disks'),
  }
  const run = () =>
    runWatcher(options, {
      ...{ disk, paths, clock, log: silentLog, hostname: 'node1.watch.example', master },
      lockFile: async () => ({ release: () => undefined }),
      lookAfterNode: async () => undefined,
      lookAfterDaemons: async () => undefined,
      startGroup: () => undefined,
    })
  return { run, disk, master, submitted: master.submitted }
}

type Submitted = [true, number] | [false, string]

/** Answers queries, and plays jobs, as they were recorded. */
class ReplayedMaster extends FakeMaster {
  private readonly ended = new Map<number, readonly Op[]>()

  constructor(private readonly situation: Situation) {
    super([])
    this.configValues = { master_node: 'node1.watch.example' }
  }

  override query: Master['query'] = async (what: QueryResource, fields) => {
    const rows = this.situation.queries[what] ?? []
    const columns = COLUMNS[what] ?? []
    const cell = (row: readonly unknown[], field: string): [number, unknown] => [0, row[columns.indexOf(field)]]
    return { fields: [], data: rows.map((row) => fields.map((field) => cell(row, field))) }
  }

  override async submitManyJobs(jobs: readonly (readonly WireOpCode[])[]): Promise<Submitted[]> {
    if (this.situation.name === 'queue-drained') return jobs.map((): Submitted => [false, 'Job queue is drained'])
    return jobs.map((ops): Submitted => {
      this.submitted.push(ops)
      const same = (one: Op, at: number) => JSON.stringify(outline(one)) === JSON.stringify(outline(ops[at] ?? one))
      const known = this.situation.jobs.find((job) => job.length === ops.length && job.every(same))
      this.ended.set(this.submitted.length, known ?? [])
      return [true, this.submitted.length]
    })
  }

  override async waitForJobChange(id: number): Promise<[unknown[], []]> {
    const ops = this.ended.get(id) ?? []
    const failed = ops.some(({ status }) => status === 'error')
    return [[failed ? 'error' : 'success', ops.map(({ result }) => result)], []]
  }
}

const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  lock: ['name', 'mode'],
  node: ['name', 'bootid', 'offline'],
  instance: [
    ...['name', 'status', 'admin_state', 'admin_state_source', 'disks_active', 'snodes', 'pnode.group.uuid'],
    ...['snodes.group.uuid', 'disk_template'],
  ],
}
