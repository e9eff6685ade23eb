// gnt-filter: the commands that show and change filter rules of the queue.
import { pythonText } from '../../lib/text/python-text'
import { nanoseconds } from '../../lib/clock'
import type { Call } from '../command'
import { CommandFailure, EXIT } from '../outcome'
import { entries, formatInfo } from '../output/info'
import { tellMissing } from '../output/missing'
import { firstArgument } from '../submit/submit'

export async function addFilter(call: Call): Promise<number> {
  call.terminal.out(await replace(call, null))
  return EXIT.ok
}

export async function replaceFilter(call: Call): Promise<number> {
  call.terminal.out(await replace(call, firstArgument(call)))
  return EXIT.ok
}

const EXAMPLE = '[["jobid", [">", "id", "watermark"]]]'

function replace({ options, master, clock }: Call, uuid: string | null): Promise<string> {
  const predicates = options.raw('predicates') ?? []
  if (!Array.isArray(predicates)) throw new CommandFailure(`--predicates: give a list, like ${EXAMPLE}`)
  const reason = options.text('reason')
  const trail = reason === undefined ? [] : [['gnt:user', reason, nanoseconds(clock)]]
  return master.replaceFilter(
    uuid,
    options.number('priority') ?? 0,
    predicates as unknown[],
    options.raw('action') ?? 'CONTINUE',
    trail,
  )
}

export async function deleteFilter(call: Call): Promise<number> {
  await call.master.deleteFilter(firstArgument(call))
  return EXIT.ok
}

export async function showFilters(call: Call): Promise<number> {
  const { args, master, terminal } = call
  const fields = ['uuid', 'watermark', 'priority', 'predicates', 'action', 'reason_trail']
  const rules = await master.queryFilters(args.length === 0 ? null : args, fields)
  const titles = ['UUID', 'Watermark', 'Priority', 'Predicates', 'Action', 'Reason trail']
  const infos = rules.map((rule) => entries(...titles.map((title, at) => [title, pythonText(rule[at])] as const)))
  if (infos.length > 0) for (const line of formatInfo(infos)) terminal.out(line)
  return tellMissing(
    call,
    'Filter rule',
    rules.map(([uuid]) => uuid),
  )
}
