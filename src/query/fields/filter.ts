// Query fields of filter rules.
import type { FilterRule } from '../../model/filter-rule'
import { type FieldTable, cell, field } from '../field'
import { parseFilter, serializeFilter } from '../filter'
import type { Resource } from '../resource'

const fields: FieldTable<FilterRule> = {
  action: field('Action', 'other', 'Filter action', (rule) => cell(rule.action), { shape: 'unknown' }),
  conditions: field(
    'Conditions',
    'text',
    'The predicates as JSON, so that a filter finds a rule by a word of them',
    (rule) => cell(JSON.stringify(predicatesOf(rule))),
    { ours: true },
  ),
  predicates: field('Predicates', 'other', 'List of filter predicates', (rule) => cell(predicatesOf(rule)), {
    shape: 'unknown[][]',
  }),
  priority: field('Priority', 'other', 'Filter priority', (rule) => cell(rule.priority), { shape: 'number' }),
  reason: field(
    'Reason',
    'text',
    'The reasons that users gave, without those of programs',
    (rule) => cell(reasonOf(rule)),
    {
      ours: true,
    },
  ),
  reason_trail: field('ReasonTrail', 'other', 'Reason why this filter was added', (rule) => cell(rule.reason_trail), {
    shape: 'unknown[][]',
  }),
  uuid: field('UUID', 'other', 'Filter ID', (rule) => cell(rule.uuid), { shape: 'string' }),
  watermark: field(
    'Watermark',
    'other',
    'Highest job ID used at the time when the filter was added',
    (rule) => cell(rule.watermark),
    { shape: 'number' },
  ),
}

export const filterResource: Resource<FilterRule> = {
  nameField: 'uuid',
  fields,
  all: ({ config }) => Object.values(config.filters),
  find: ({ config }, uuid) => (Object.hasOwn(config.filters, uuid) ? config.filters[uuid] : undefined),
}

const predicatesOf = ({ predicates }: FilterRule): unknown[] =>
  predicates.map(([kind, filter]) => [kind, serializeFilter(parseFilter(filter))])

const reasonOf = ({ reason_trail: trail }: FilterRule): string =>
  trail.flatMap(([source, text]) => (source === 'gnt:user' && text !== '' ? [text] : [])).join('; ')
