// Answers of the allocation as tables, or as the remote API's JSON.
import { candidateLine } from '../../allocation/model/explain-text'
import { score8 } from '../../allocation/model/numbers'
import type { CandidateNode, Capacity, GroupScore, WhatIf } from '../../model/allocation'
import type { PlannedBalance } from '../../rpc/luxi/allocation'
import type { Call } from '../command'
import { asData } from '../output/data'
import { formatUnit } from '../output/format'
import { formatTable } from '../output/table'

export async function showBalance(call: Call, answer: PlannedBalance): Promise<void> {
  if (await asData(call, answer)) return
  const { out, err } = call.terminal
  const { steps, groups, more, left_out } = answer
  if (steps.length === 0) out('There is nothing to move: no move gains enough.')
  else
    table(
      call,
      ['Move', 'Instance', 'Group', 'Kind', 'From', 'To', 'Copied', 'Gain'],
      steps.map(({ instance, group, kind, from, to, score_before, score_after, copied_mib }, at) => [
        ...[String(at + 1), instance, group, kind, from.join(','), to.join(',')],
        copied_mib === 0 ? '-' : formatUnit(copied_mib, 'h'),
        score8(score_before - score_after),
      ]),
    )
  scores(call, groups)
  for (const { instance, candidates } of steps) explained(call, instance, candidates)
  if (left_out !== null) err(`Left out: ${left_out}`)
  if (more) err('There are more moves than these: ask again after them.')
}

export async function showCapacity(call: Call, answer: Capacity): Promise<void> {
  if (await asData(call, answer)) return
  const { groups, fits } = answer
  table(
    call,
    ['Group', 'Policy', 'Fits', 'Why no more'],
    groups.map((one) => [one.group, one.alloc_policy, String(one.fits), one.reason ?? '-']),
  )
  if (call.options.flag('verbose')) {
    call.terminal.out('')
    const places = groups.flatMap(({ group, nodes }) =>
      nodes.map((pair, at) => [group, String(at + 1), pair.join(',')]),
    )
    table(call, ['Group', 'Number', 'Nodes'], places)
  }
  if (groups.length > 1) call.terminal.err(`${fits} fit in all.`)
  for (const { group, candidates } of groups) explained(call, `the next instance in ${group}`, candidates)
}

export async function showWhatIf(call: Call, answer: WhatIf): Promise<void> {
  if (await asData(call, answer)) return
  const { out } = call.terminal
  const { dead, restored, lost, mirrored, unmirrored, already_down, placed, refused, without_reserve } = answer
  if (dead.length > 0) out(`Nodes that die: ${dead.join(', ')}`)
  const rows = [
    ...restored.map(({ instance, from, to }) => [instance, 'restored', from.join(','), to.join(','), '-']),
    ...mirrored.map(({ instance, from, to }) => [instance, 'mirrored anew', from.join(','), to.join(','), '-']),
    ...unmirrored.map(({ instance, nodes, reason }) => [instance, 'without mirror', nodes.join(','), '-', reason]),
    ...lost.map(({ instance, nodes, reason }) => [instance, 'lost', nodes.join(','), '-', reason]),
    ...already_down.map(({ instance, nodes, reason }) => [instance, 'down before', nodes.join(','), '-', reason]),
    ...placed.map(({ nodes }, at) => [`(new ${at + 1})`, 'placed', '-', nodes.join(','), '-']),
    ...refused.map(({ count, reason }) => [`(${count} new)`, 'refused', '-', '-', reason]),
  ]
  const nothing = dead.length + placed.length + refused.length === 0
  if (nothing) {
    if (without_reserve.length === 0) out('If any one node died, the others could take over its mirrored instances.')
    out(
      'Name nodes to see what their loss would do, or say with -t and --memory what arrives: gnt allocation whatif --help',
    )
  } else if (rows.length === 0) out('No instance is touched.')
  else table(call, ['Instance', 'Outcome', 'From', 'To', 'Why'], rows)
  scores(call, answer.groups)
  if (without_reserve.length > 0)
    call.terminal.err(
      `Could not take over what they would have to if one more node died: ${without_reserve.join(', ')}`,
    )
  for (const { instance, candidates } of [...unmirrored, ...lost]) explained(call, instance, candidates)
  for (const { candidates } of refused) explained(call, 'the next new instance', candidates)
}

function table({ options, terminal }: Call, titles: readonly string[], rows: readonly (readonly string[])[]): void {
  const columns = titles.map((title) => ({ title, alignRight: ['Move', 'Fits', 'Number'].includes(title) }))
  const style = { headers: !options.flag('no_headers'), separator: options.text('separator') }
  for (const line of formatTable(columns, rows, style)) terminal.out(line)
}

/** Printed to stderr, so that a reader of the table need not separate the two. */
function scores({ terminal }: Call, groups: readonly GroupScore[]): void {
  for (const { group, score_before, score_after } of groups)
    terminal.err(`Score of group ${group}: ${score8(score_before)} -> ${score8(score_after)}`)
}

function explained({ terminal }: Call, what: string, candidates: readonly CandidateNode[] | null): void {
  if (candidates === null) return
  terminal.err(`Nodes for ${what}:`)
  for (const one of candidates) terminal.err(candidateLine(one))
}
