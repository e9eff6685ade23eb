// Commands about instances, nodes and disks of a cluster with logical volumes and DRBD: they submit what a real Ganeti's submitted, and
// print the same in front of the same results of jobs. The lines of logs are left out.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { loadConfig } from '../../../src/config/upgrade'
import { seededRandom } from '../../../src/lib/random'
import { FakeMaster, type ScriptedJob } from '../../support/fake-master'
import { goldenSource } from '../../support/golden-query'
import { runCli } from '../../support/run-cli'
import { recordedStorage } from '../../support/storage-cluster'
import { chapters } from '../../support/storage-steps'

interface Command {
  readonly name: string
  readonly command: string
  readonly exit: number
  readonly stdout: readonly string[]
  readonly stderr: readonly string[]
  /** What nodes answered to a query. */
  readonly live?: object
}

interface Job {
  readonly op: { readonly OP_ID: string }
  readonly status?: string
  readonly result: unknown
}

const commands = JSON.parse(
  fs.readFileSync(path.join(__dirname, '../../golden/storage/commands.json'), 'utf8'),
) as readonly Command[]
const reported = chapters()

/** The configuration without instances, and with those that most steps are about. */
const NONE = JSON.stringify(recordedStorage.config)
const BOTH = reported.find(({ step }) => step.name === '047-plain-reboot-hard')?.before ?? NONE

const jobs = new Map<string, readonly Job[]>([
  ...reported.map(({ step }) => [step.name, step.jobs] as const),
  ...recordedStorage.steps.map((step) => [step.name, [step]] as const),
])

/** Queries leave the configuration alone: it is as before the next step. */
const NEXT: Readonly<Record<string, string>> = {
  '020-node-list': '021-list-storage-vg',
  '032-plain-list': '033-node-volumes',
  '062-drbd-list': '064-node-volumes',
  '063-node-list-drbd': '064-node-volumes',
  '172-backup-list': '173-import',
}

const NODE0 =
  'node0.gnt.example      -     -      -     -     -     0     0 M    N              -     -      -       -      -        - -'

/** What takes effect only later is named, and nothing is said where it is all in effect. */
const LATER = /^Please don't forget that most parameters take effect only/
const effective = (change: string) =>
  `When Ganeti next starts or reboots the instance (a restart from inside is not enough), these take effect: ${change}`

/** What ours says otherwise, in place of the last line. */
const OTHERWISE: Readonly<Record<string, readonly string[]>> = {
  '048-plain-disk-add': [effective('disk/2')],
  '049-plain-disk-rename': [effective('disk.mode/2')],
  '050-plain-disk-detach': [effective('disk/2')],
  '113-drbd-disk-add': [effective('disk/1')],
}

/** Ganeti fails without a word here. */
const UNSAID: Readonly<Record<string, readonly string[]>> = {
  '158-verify-disks-lost': ['Not all disks could be checked or activated.'],
  '166-verify-disks-offline-node': ['Not all disks could be checked or activated.'],
}

test.each(commands.map((command) => [command.name, command] as const))('%s', async (name, recorded) => {
  const lines = recorded.stdout.flatMap((line) => {
    if (LATER.test(line)) return OTHERWISE[name] ?? []
    // A node that may not have instances is not asked.
    if (name === '020-node-list' && line.startsWith('node0')) return [NODE0]
    // It also says for which job it waits.
    return line.startsWith('Activating disks for') ? [line, 'Waiting for job 1000 ...'] : [line]
  })
  const before = reported.find(({ step }) => step.name === (NEXT[name] ?? name))?.before
  const { config } = loadConfig(before ?? (recorded.command.includes('instance add') ? NONE : BOTH), seededRandom(2))
  const source = goldenSource(config)
  Object.assign(source.live.recorded, recorded.live)
  // Ours asks for the disks of the node's instances.
  const own = jobs.get(name === '063-node-list-drbd' ? '061-drbd-info' : name) ?? []
  const master = new FakeMaster(scriptOf(own), source)
  const result = await runCli(master, recorded.command.split(' '))
  expect(plain(result.stdout)).toEqual(plain(lines.join('\n')))
  expect([plain(result.stderr), result.exit]).toEqual([
    plain([...recorded.stderr, ...(UNSAID[name] ?? [])].join('\n')),
    recorded.exit,
  ])
  expect(master.submitted.map(([op]) => op?.OP_ID)).toEqual(submittedOf(own).map(({ op }) => op.OP_ID))
})

/** Jobs that commands submit are first; those that jobs have submitted come after them. */
function scriptOf(all: readonly Job[]): ScriptedJob[] {
  const handedOn = handedOnBy(all).map((id, index) => scripted(id, all[1 + index]))
  return [...submittedOf(all).map((job, index) => scripted(1000 + index, job)), ...handedOn]
}

const submittedOf = (all: readonly Job[]): readonly Job[] => [
  ...all.slice(0, 1),
  ...all.slice(1 + handedOnBy(all).length),
]

/** The numbers of the jobs that the first one has submitted. */
function handedOnBy([first]: readonly Job[]): number[] {
  const { jobs: input = [] } = (first?.result ?? {}) as { readonly jobs?: readonly (readonly [true, number])[] }
  return input.map(([, id]) => id)
}

const scripted = (id: number, job: Job | undefined): ScriptedJob =>
  job?.status === 'error' ? { id, error: job.result } : { id, result: job?.result }

const plain = (text: string): string[] =>
  text
    .replace(/^Warning: --no-(ip|name)-check has no effect.*\n/gm, '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replace(/(job) \d+/gi, '$1 N').trimEnd())
