// `harep`: repairs instances with offline nodes, as far as tags allow it, and records each repair's state in tags.
import { nanoseconds } from '../../lib/clock'
import { RepairFailure, repairRound } from '../../maintenance/repair-round'
import type { Master } from '../../rpc/luxi/master'
import type { WireOpCode } from '../../rpc/luxi/calls'
import { formatCtime } from '../output/format'
import { submitJobs, waitForJobs } from './jobs'
import { loadLocal } from './load'
import { type Parsed, has, numberOf, parseOptions, textOf } from './options'
import { PROGRAM_VERSION, type Context, failure } from './context'

const OPTIONS = 'luxi job-delay reason dry-run version help help-completion'

export async function harep(args: readonly string[], surroundings: Context): Promise<number> {
  const options = parseOptions('harep', OPTIONS, args)
  if (options.rest.length > 0) throw failure("this program doesn't take any arguments.")
  // The figures do not matter here, but loading them warns the user about implausible ones.
  await loadLocal(options, surroundings)
  const counts = await treat(options, surroundings)
  const lines = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([state, count]) => `${state}: ${count}\n`)
  surroundings.out(`${LINE}Instance status count\n${LINE}${lines.join('')}`)
  return 0
}

const LINE = '---------------------\n'

async function treat(options: Parsed, surroundings: Context): Promise<ReadonlyMap<string, number>> {
  const { clock, random, out } = surroundings
  const master = surroundings.connect(textOf(options, 'luxi'))
  const dryRun = has(options, 'dry-run')
  const marked = marker(options, surroundings)
  try {
    return await repairRound({
      ...{ master, clock, random, say: out, timeText: formatCtime, delay_s: numberOf(options, 'job-delay') ?? 10 },
      async submit(ops) {
        if (!dryRun) return submitJobs(master, [marked(ops)])
        out(`jobs: ${JSON.stringify([ops])}\n`)
        return []
      },
      carryOut: async (op) => (dryRun ? undefined : runJob(master, marked([op]))),
    })
  } catch (error) {
    throw error instanceof RepairFailure ? failure(error.message) : error
  }
}

async function runJob(master: Master, ops: readonly WireOpCode[]): Promise<void> {
  const jobs = await waitForJobs(master, await submitJobs(master, [ops]))
  const failed = jobs.filter(({ status }) => status !== 'success').map(({ id, status }) => `${id}=>${status}`)
  if (failed.length > 0) throw failure(`The following jobs failed: ${failed.join(', ')}`)
}

/** Adds to each opcode who wants it. */
function marker(options: Parsed, { clock }: Context): (ops: readonly WireOpCode[]) => WireOpCode[] {
  const text = textOf(options, 'reason') ?? `harep ${PROGRAM_VERSION} called`
  const comment = `automated repairs by harep ${PROGRAM_VERSION}`
  return (ops) => ops.map((op) => ({ ...op, comment, reason: [['harep', text, nanoseconds(clock)]] }))
}
