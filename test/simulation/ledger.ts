// Remembers what the cluster has promised to its users, and collects complaints about broken promises.
import type { JobId, WireOpCode } from '../../src/rpc/luxi/calls'
import type { Witness } from './sim-jobs'
import type { Simulator } from './simulator'

/** Something that users can see in the configuration: a tag of the cluster, an object, or the memory of an instance. */
export type Fact =
  | { readonly kind: 'tag' | 'instance' | 'group' | 'network' | 'filter'; readonly name: string }
  | { readonly kind: 'memory'; readonly name: string; readonly size_mib?: number }

const FINAL = ['success', 'error', 'canceled']

export class Ledger implements Witness {
  readonly complaints: string[] = []
  /** Accepted jobs, with the end that somebody was told of. */
  readonly jobs = new Map<JobId, { status: string | undefined; result: string; since_ms: number; archived: boolean }>()
  /** Facts that must be there, and facts that must not. Facts that nobody can be sure of are missing here. */
  private readonly known = new Map<string, { fact: Fact; there: boolean }>()
  /** The job that began last, of all that change a fact. */
  private readonly changers = new Map<string, JobId>()
  private readonly refused = new Set<unknown>()
  /** Opcodes that began, by job and position. */
  private readonly begun = new Set<string>()
  /** How many opcodes of each kind were done, and how many failed. */
  readonly ops = new Map<string, readonly [done: number, failed: number]>()
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

  /** A user was told that no job was made of these opcodes. */
  wasRefused(ops: readonly WireOpCode[]): void {
    for (const { comment } of ops) this.refused.add(comment)
  }

  /** An opcode holds its locks and begins. Its user may know nothing of the job, if the answer to the submission was lost. */
  began(id: JobId, index: number, op: WireOpCode): void {
    const key = `${id}.${index}`
    if (this.begun.has(key)) this.complain(`opcode ${key} began twice`)
    this.begun.add(key)
    if (this.refused.has(op.comment)) this.complain(`opcode ${key} began, and its job was refused`)
    for (const fact of factsChangedBy(op)) {
      this.forget(fact)
      for (const changed of keysOf(fact)) this.changers.set(changed, id)
    }
  }

  ended({ OP_ID }: WireOpCode, done: boolean): void {
    const [successes, failures] = this.ops.get(OP_ID) ?? [0, 0]
    this.ops.set(OP_ID, done ? [successes + 1, failures] : [successes, failures + 1])
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

  resultOf = (id: JobId): readonly unknown[] => JSON.parse(this.jobs.get(id)?.result || '[]') as unknown[]

  lost(id: JobId, where: string): void {
    this.complain(`job ${id} was accepted and is not there ${where}`)
  }

  get open(): JobId[] {
    return [...this.jobs].flatMap(([id, { status }]) => (status === undefined ? [id] : []))
  }

  /** A change was asked for: it may happen or not until its job has ended. */
  forget(fact: Fact): void {
    for (const key of keysOf(fact)) this.known.delete(key)
  }

  /** The job has done this. Jobs have no order, so an earlier one with a lost answer may have changed the same since then. */
  learn(fact: Fact, there: boolean, by: JobId): void {
    const last = this.changers.get(keyOf(fact))
    if (last === undefined) this.complain(`job ${by} has changed ${keyOf(fact)}, and never began`)
    if (last === by) this.known.set(keyOf(fact), { fact, there })
  }

  /** Somebody was told this of something that only one person ever changes, without a job. */
  know(fact: Fact, there: boolean): void {
    this.known.set(keyOf(fact), { fact, there })
  }

  changerOf = (fact: Fact): JobId | undefined => this.changers.get(keyOf(fact))

  /** Somebody was told that it is there, and nobody has asked since then to change that. */
  isThere = (fact: Fact): boolean => this.known.get(keyOf(fact))?.there === true

  /** The configuration must show what was promised. */
  check(where: string, isThere: (fact: Fact) => boolean): void {
    for (const { fact, there } of this.known.values())
      if (isThere(fact) !== there) this.complain(`${JSON.stringify(fact)} is ${there ? 'lost' : 'back again'} ${where}`)
  }

  /** Somebody has seen a serial number of the configuration. After one was told, no older one may come. */
  sawSerial(serial: number, where: string, reported: boolean): void {
    if (serial < this.serial)
      this.complain(`serial number ${serial} ${where} is older than ${this.serial}, which was told`)
    if (reported) this.serial = Math.max(this.serial, serial)
  }
}

/** The facts that are unsure while the opcode may run. */
export function factsChangedBy({ OP_ID, ...params }: WireOpCode): Fact[] {
  const name = String(params['instance_name'])
  if (OP_ID === 'OP_INSTANCE_REMOVE') return [{ kind: 'instance', name }]
  if (OP_ID === 'OP_INSTANCE_RENAME')
    return [
      { kind: 'instance', name },
      { kind: 'instance', name: String(params['new_name']) },
    ]
  const [, KIND = '', what] = /^OP_(GROUP|NETWORK)_(ADD|REMOVE|RENAME)$/.exec(OP_ID) ?? []
  const kind = KIND === 'GROUP' ? 'group' : 'network'
  const named = [params[`${kind}_name`], ...(what === 'RENAME' ? [params['new_name']] : [])]
  if (what !== undefined) return named.map((one) => ({ kind, name: String(one) }))
  const several = OP_ID === 'OP_INSTANCE_MULTI_ALLOC' ? (params['instances'] as { instance_name: string }[]) : []
  if (several.length > 0) return several.map((one) => ({ kind: 'instance', name: one.instance_name }))
  // Whatever becomes of a forthcoming instance, its name stays taken.
  if (OP_ID === 'OP_INSTANCE_CREATE') return params['commit'] === true ? [] : [{ kind: 'instance', name }]
  if (OP_ID === 'OP_INSTANCE_SET_PARAMS') return [{ kind: 'memory', name }]
  if (params['kind'] !== 'cluster' || !Array.isArray(params['tags'])) return []
  return params['tags'].map((tag) => ({ kind: 'tag', name: String(tag) }))
}

const keyOf = ({ kind, name }: Fact): string => `${kind}:${name}`

/** An instance's memory comes and goes with it. */
const keysOf = (fact: Fact): string[] =>
  fact.kind === 'instance' ? [keyOf(fact), keyOf({ kind: 'memory', name: fact.name })] : [keyOf(fact)]
