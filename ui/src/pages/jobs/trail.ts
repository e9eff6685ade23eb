// Who and what is behind a job, and which jobs it has to do with: read from its opcodes.
import type { components } from '../../api/schema'

type Job = components['schemas']['Job']

type Input = Readonly<Record<string, unknown>>

/** Notes of the master in the reason trail. */
const USER = 'gantry:user'
const TOKEN = 'gantry:token'

function trailOf({ ops }: Job): (readonly [source: string, text: string])[] {
  const input: Input = ops[0]?.input ?? {}
  const trail: readonly unknown[] = Array.isArray(input['reason']) ? input['reason'] : []
  return trail.flatMap((entry) =>
    Array.isArray(entry) && typeof entry[0] === 'string' ? [[entry[0], String(entry[1] ?? '')] as const] : [],
  )
}

const noted = (job: Job, source: string): string | undefined => trailOf(job).find(([name]) => name === source)?.[1]

export const userOf = (job: Job): string | undefined => noted(job, USER)
export const tokenOf = (job: Job): string | undefined => noted(job, TOKEN)

/** What people have said why: what programs note is left out. */
export const reasonsOf = (job: Job): string[] =>
  trailOf(job).flatMap(([source, text]) => (source === 'gnt:user' && text !== '' ? [text] : []))

export interface Dependency {
  readonly job: number
  /** Ways for it to end; any without one. */
  readonly statuses: readonly string[]
}

/** Those of all opcodes, each once. A negative number counts from this job; it is the job's own as soon as it is submitted. */
export function dependenciesOf({ ops }: Job): Dependency[] {
  const found = new Map<number, Dependency>()
  for (const { input } of ops) {
    const depends: unknown = input?.['depends']
    for (const entry of Array.isArray(depends) ? (depends as unknown[]) : []) {
      const [job, statuses] = Array.isArray(entry) ? (entry as unknown[]) : []
      if (typeof job === 'number' && job > 0)
        found.set(job, { job, statuses: Array.isArray(statuses) ? statuses.map(String) : [] })
    }
  }
  return [...found.values()]
}

/** The numbers of jobs that its opcodes have submitted: they answer `{ jobs: [[submitted, number or error]] }`. */
export function submittedOf({ ops }: Job): number[] {
  return ops.flatMap(({ result }) => {
    const jobs: unknown = typeof result === 'object' && result !== null && 'jobs' in result ? result.jobs : undefined
    return (Array.isArray(jobs) ? (jobs as unknown[]) : []).flatMap((entry) =>
      Array.isArray(entry) && typeof entry[1] === 'number' ? [entry[1]] : [],
    )
  })
}
