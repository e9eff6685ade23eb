// A small page for people: the events, the work on each, and the next steps.
import type { MaintenanceEvent, MaintenanceView } from '../../model/maintenance'

export function pageOf({ settings, events, jobs, outlook, problems }: MaintenanceView): string {
  const on = (['evacuation', 'live_repair', 'harep', 'balance', 'restart'] as const).filter((name) => settings[name])
  const may = on.length === 0 ? 'It may do nothing yet.' : `It may do: ${on.join(', ')}.`
  const dry = settings.dry_run ? ' This is a dry run: nothing is done.' : ''
  const bad = Object.entries(problems)
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Maintenance</title><style>${STYLE}</style></head><body>
<h1>Maintenance</h1>
<p>${may}${dry}</p>
${events.length === 0 ? '<p>No node needs a repair.</p>' : tableOf(events)}
${listOf(
  'Jobs of this round',
  jobs.map(({ job, text }) => `${job ?? 'not submitted'}: ${text}`),
)}
${listOf('What would be done', outlook)}
${listOf(
  'Nodes without a usable self-diagnosis',
  bad.map(([node, why]) => `${node}: ${why}`),
)}
<p><a href="/1/maintenance">all of it</a> · <a href="/metrics">metrics</a> · <a href="/docs/">documentation</a></p>
</body></html>
`
}

const STYLE =
  'body{font:14px sans-serif;margin:2em}table{border-collapse:collapse}td,th{text-align:left;padding:.3em 1em;border-bottom:1px solid #ccc}' +
  '.completed{color:#060}.pending{color:#960}.canceled{color:#666}.failed{color:#b00}'

const tableOf = (
  events: readonly MaintenanceEvent[],
): string => `<table><thead><tr><th>node<th>wanted<th>state<th>jobs<th>next<th>id</tr></thead><tbody>
${events.map(rowOf).join('\n')}
</tbody></table>`

function rowOf(event: MaintenanceEvent): string {
  const { id, node_name, action, jobs, 'repair-status': status } = event
  const cells = [node_name ?? 'has left', action, status, jobs.join(', ') || 'none', nextOf(event), id]
  return `<tr>${cells.map((cell) => `<td class="${status}">${escaped(cell)}`).join('')}</tr>`
}

function nextOf({ note, tag, 'repair-status': status }: MaintenanceEvent): string {
  if (note !== null) return note
  if (status === 'noted') return 'the next round takes it up'
  if (status === 'pending') return 'the next step follows when its jobs have ended'
  if (status === 'canceled') return 'it is forgotten when the node no longer reports it'
  return `somebody repairs the node, and removes its tag ${tag}`
}

const listOf = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? '' : `<h2>${title}</h2><ul>${lines.map((line) => `<li>${escaped(line)}`).join('')}</ul>`

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char)
