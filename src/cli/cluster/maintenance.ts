// gnt-cluster maintenance and remove-repair: settings and state of maintenance, and decisions about its events.
import { timeText } from '../../lib/text/rfc3339'
import { MAINTENANCE_DEFAULTS, type MaintenanceEvent, type MaintenanceView } from '../../model/maintenance'
import { administrator, gantryOf } from '../administrator'
import { type Call, type Command, many, one } from '../command'
import { EXIT, refusal } from '../outcome'
import { formatTable } from '../output/table'

export const MAINTENANCE_COMMANDS: readonly Command[] = [
  {
    name: 'maintenance',
    help:
      'look after nodes that need a repair: "settings" shows and changes what may be done (gnt cluster maintenance settings ' +
      'diagnose_command=check-node evacuation=yes), "status" tells what is done (gnt cluster maintenance status), "events" lists ' +
      'the faults that nodes report (gnt cluster maintenance events), "cancel" orders that nothing more is done about one (gnt ' +
      'cluster maintenance cancel ID), and "acknowledge" ends one that was dealt with (gnt cluster maintenance acknowledge ID). ' +
      `The settings are ${Object.keys(MAINTENANCE_DEFAULTS).join(', ')}`,
    usage: '{settings [<name>=<value>...]|status|events|cancel <id>|acknowledge <id>}',
    args: [one('choice'), many('setting or event id')],
    options: [],
    run: maintain,
    data: maintenanceData,
  },
  {
    name: 'remove-repair',
    help: 'cancel a repair event that goes on, or acknowledge one that has ended: gnt-cluster remove-repair ID',
    usage: '<id>',
    args: [one('event id')],
    options: [],
    run: removeRepair,
  },
]

const ABOUT_ONE: readonly string[] = ['cancel', 'acknowledge']
const VERBS = 'settings, status, events, cancel or acknowledge'

async function maintain(call: Call): Promise<number> {
  const [verb, ...rest] = call.args
  const [id, more] = rest
  if (verb !== 'settings' && (more !== undefined || (id !== undefined && !ABOUT_ONE.includes(verb ?? ''))))
    throw refusal(`'${verb}' takes no '${more ?? id}'`)
  switch (verb) {
    case 'settings':
      return changeSettings(call, rest)
    case 'status':
      return showStatus(call)
    case 'events':
      return showEvents(call)
    case 'cancel':
      return cancelEvent(call, needed(id))
    case 'acknowledge':
      return acknowledge(call, needed(id))
    default:
      throw refusal(`Command '${verb}' is not valid; it is ${VERBS}`)
  }
}

/** Ganeti's older command: cancels an active event, and acknowledges an ended one. */
async function removeRepair(call: Call): Promise<number> {
  const id = needed(call.args[0])
  const event = (await viewOf(call)).events.find((one) => one.id === id)
  if (event === undefined) throw refusal(`There is no event ${id}; see 'gnt cluster maintenance events'`)
  const ended = event['repair-status'] === 'completed' || event['repair-status'] === 'failed'
  return ended ? acknowledge(call, id) : cancelEvent(call, id)
}

async function maintenanceData(call: Call): Promise<unknown> {
  const [verb] = call.args
  const view = await viewOf(call)
  if (verb === 'settings' && call.args.length === 1) return view.settings
  if (verb === 'status') return view
  if (verb === 'events') return view.events
  throw refusal(`Only settings, status and events print data; call '${verb}' without --json and --output-format`)
}

const viewOf = (call: Call): Promise<MaintenanceView> => gantryOf(call).maintenance(administrator('root'))

function needed(id: string | undefined): string {
  if (id === undefined) throw refusal("Name the event by its id: 'gnt cluster maintenance events' lists them")
  return id
}

async function changeSettings(call: Call, words: readonly string[]): Promise<number> {
  const input = Object.fromEntries(words.map(settingIn))
  if (words.length > 0) await call.jobs.wait(await gantryOf(call).setMaintenance(administrator('root'), input), false)
  const { settings } = await viewOf(call)
  for (const [name, value] of Object.entries(settings)) call.terminal.out(`${name}: ${displayed(value)}`)
  return EXIT.ok
}

/** Splits `evacuation=yes` into a setting and its value. */
function settingIn(word: string): [string, unknown] {
  const [name = '', ...rest] = word.split('=')
  const text = rest.join('=')
  const known = Object.entries(MAINTENANCE_DEFAULTS).find(([one]) => one === name)
  if (rest.length === 0 || known === undefined)
    throw refusal(`'${word}' is no setting: write <name>=<value>, with ${Object.keys(MAINTENANCE_DEFAULTS).join(', ')}`)
  const kind = typeof known[1]
  if (kind === 'string') return [name, text]
  const value = kind === 'boolean' ? { yes: true, no: false }[text] : text === '' ? Number.NaN : Number(text)
  if (value === undefined || Number.isNaN(value))
    throw refusal(`${name} is ${kind === 'boolean' ? 'yes or no' : 'a number'}, not '${text}'`)
  return [name, value]
}

const displayed = (value: unknown): string =>
  value === true ? 'yes' : value === false ? 'no' : value === '' ? '-' : String(value)

async function showStatus(call: Call): Promise<number> {
  const { settings, events, jobs, outlook, problems } = await viewOf(call)
  const { out } = call.terminal
  const on = (['evacuation', 'live_repair', 'harep', 'balance', 'restart'] as const).filter((name) => settings[name])
  out(
    `Maintenance may do: ${on.length === 0 ? 'nothing' : on.join(', ')}${settings.dry_run ? ' (dry run: nothing is done)' : ''}`,
  )
  out(`Self-diagnosis: ${settings.diagnose_command === '' ? 'none' : settings.diagnose_command}`)
  out(`Events: ${events.length}`)
  for (const { node_name, action, note, 'repair-status': status } of events)
    out(`  ${node_name ?? '-'}: ${action}, ${status}${note === null ? '' : ` (${note})`}`)
  out(`Jobs of the round: ${jobs.length}`)
  for (const { job, text } of jobs) out(`  ${job ?? '-'}: ${text}`)
  if (outlook.length > 0) out('Would be done now:')
  for (const text of outlook) out(`  ${text}`)
  for (const [node, why] of Object.entries(problems)) out(`Problem: ${node}: ${why}`)
  return EXIT.ok
}

async function showEvents(call: Call): Promise<number> {
  const rows = (await viewOf(call)).events.map((event: MaintenanceEvent) => [
    ...[event.id, event.node_name ?? '-', event.action, event['repair-status'], event.jobs.join(',') || '-'],
    ...[timeText(event.ctime), event.note ?? '-'],
  ])
  const columns = TITLES.map((title) => ({ title, alignRight: false }))
  for (const line of formatTable(columns, rows, { headers: true })) call.terminal.out(line)
  return EXIT.ok
}

const TITLES = ['ID', 'Node', 'Action', 'Status', 'Jobs', 'Noted', 'Note']

async function cancelEvent(call: Call, id: string): Promise<number> {
  const { node_name } = await gantryOf(call).cancelRepair(administrator('root'), id)
  call.terminal.out(
    `Event ${id} of ${node_name ?? 'a node that has left'} is canceled; jobs that were submitted go on.`,
  )
  return EXIT.ok
}

async function acknowledge(call: Call, id: string): Promise<number> {
  const job = await gantryOf(call).acknowledgeRepair(administrator('root'), id)
  await call.jobs.wait(job, false)
  call.terminal.out(`Event ${id} is acknowledged.`)
  return EXIT.ok
}
