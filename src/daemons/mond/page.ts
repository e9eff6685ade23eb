// A small page for people: each collector's report about this node.
import type { Figures } from '../../collectors/monitor'
import { NO_CATEGORY } from '../../model/constants/collectors'
import { COLLECTOR_SETTINGS_S } from '../../model/limits/mond'
import type { MondOptions } from './context'

type Shown = Pick<MondOptions, 'monitor' | 'clock' | 'hostname' | 'configAge_s'>

export async function pageOf({ monitor, clock, hostname, configAge_s }: Shown): Promise<string> {
  const figures = await monitor.figures()
  const now_ms = clock.monotonic_ms()
  const rows = figures.map((one) => rowOf(one, now_ms))
  const name = escaped(hostname)
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>${name}</title><style>${STYLE}</style></head><body>
<h1>${name}</h1>
${settingsNote(configAge_s())}
<table><thead><tr><th>collector<th>category<th>state<th>what it says<th>seen</tr></thead><tbody>
${rows.join('\n')}
</tbody></table>
<p><a href="/1/report/all">all reports</a> · <a href="/metrics">metrics</a> · <a href="/docs/">documentation</a></p>
</body></html>
`
}

const STYLE =
  'body{font:14px sans-serif;margin:2em}table{border-collapse:collapse}td,th{text-align:left;padding:.3em 1em;border-bottom:1px solid #ccc}' +
  '.c0{color:#060}.c1{color:#960}.c2{color:#666}.c4{color:#b00}td{white-space:pre-line}'

const STATES = { 0: 'ok', 1: 'healing', 2: 'unknown', 4: 'bad' } as const

function rowOf({ watched, status, error, seen_ms }: Figures, now_ms: number): string {
  const category = watched.category ?? NO_CATEGORY
  const code = status?.code ?? (error === undefined ? undefined : 2)
  const state = code === undefined ? '' : STATES[code]
  const said = (error ?? status?.message ?? '').trim()
  const observed = seen_ms === undefined ? 'not yet' : `${Math.round((now_ms - seen_ms) / 1000)} s ago`
  const link = `<a href="/1/report/${escaped(category)}/${escaped(watched.name)}">${escaped(watched.name)}</a>`
  return `<tr><td>${link}<td>${escaped(category)}<td class="c${code ?? 0}">${state}<td>${escaped(said)}<td>${observed}</tr>`
}

/** A single missed answer is normal. */
function settingsNote(age_s: number | undefined): string {
  if (age_s !== undefined && age_s < 3 * COLLECTOR_SETTINGS_S) return ''
  const since = age_s === undefined ? 'since this daemon was started' : `for ${Math.round(age_s)} s`
  return `<p class="c4">No master candidate has answered ${since}. If they run, compare their clocks with this node's.</p>`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char)
