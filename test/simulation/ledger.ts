// Remembers what the cluster has promised to its users, and collects complaints about broken promises.
import type { JobId } from '../../src/rpc/luxi/calls'
import type { Simulator } from './simulator'

/** Something that users can see in the configuration: a tag, an instance, or the memory of an instance. */
export type Fact =
  | { readonly kind: 'tag' | 'instance'; readonly name: string }
  | { readonly kind: 'memory'; readonly name: string; readonly size_mib?: number }

const FINAL = ['success', 'error', 'canceled']

export class Ledger {
  readonly complaints: string[] = []
  /** Accepted jobs, with the end that somebody was told of. */
  readonly jobs = new Map<JobId, { status: string | undefined; result: string; since_ms: number; archived: boolean }>()
  /** Facts that must be there, and facts that must not. Facts that nobody can be sure of are missing here. */
  private readonly known = new Map<string, { fact: Fact; there: boolean }>()
  private serial = 0

  constructor(private readonly simulator: Simulator) {}

  complain(text: string): void {
    if (this.complaints.includes(text)) return
    this.simulator.note('LEDGER', text)
    this.complaints.push(text)
  }

  accepted(id: JobId): void {
    if (this.jobs.has(id)) this.complain(`job id ${id} was given out twice`)
    this.jobs.set(id, { status: undefined, result: '', since_ms: 0, archived: false })
  }

  archived(id: JobId): void {
    const job = this.jobs.get(id)
    if (job) job.archived = true
  }

  /** Somebody has looked at a job. Once one user has seen its end, all later answers must show the same end. */
  saw(id: JobId, status: string, result: unknown, asked_ms: number): void {
    const job = this.jobs.get(id)
    const text = JSON.stringify(result)
    if (job === undefined) return
    if (job.status === undefined) {
      if (!FINAL.includes(status)) return
      job.status = status
      job.result = text
      job.since_ms = this.simulator.time_ms
    } else if (asked_ms > job.since_ms && (job.status !== status || job.result !== text))
      this.complain(`job ${id} had ended as ${job.status} ${job.result} and is ${status} ${text} now`)
  }

  lost(id: JobId, where: string): void {
    this.complain(`job ${id} was accepted and is not there ${where}`)
  }

  get open(): JobId[] {
    return [...this.jobs].flatMap(([id, { status }]) => (status === undefined ? [id] : []))
  }

  /** A change was asked for: it may happen or not until its job has ended. */
  forget(fact: Fact): void {
    this.known.delete(keyOf(fact))
    if (fact.kind === 'instance') this.known.delete(keyOf({ kind: 'memory', name: fact.name }))
  }

  learn(fact: Fact, there: boolean): void {
    this.known.set(keyOf(fact), { fact, there })
  }

  /** Somebody was told that it is there, and nobody has asked since then to change that. */
  isThere = (fact: Fact): boolean => this.known.get(keyOf(fact))?.there === true

  /** The configuration must show what was promised. */
  check(where: string, isThere: (fact: Fact) => boolean): void {
    for (const { fact, there } of this.known.values())
      if (isThere(fact) !== there) this.complain(`${JSON.stringify(fact)} is ${there ? 'lost' : 'back again'} ${where}`)
  }

  /** Somebody has seen a serial number of the configuration. After one was told, no older one may come. */
  sawSerial(serial: number, where: string, told: boolean): void {
    if (serial < this.serial)
      this.complain(`serial number ${serial} ${where} is older than ${this.serial}, which was told`)
    if (told) this.serial = Math.max(this.serial, serial)
  }
}

const keyOf = ({ kind, name }: Fact): string => `${kind}:${name}`
