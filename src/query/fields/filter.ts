import type { FilterRule } from '../../model/filter-rule'
import { type FieldTable, cell, field } from '../field'
import { parseFilter, serializeFilter } from '../filter'
import type { Resource } from '../resource'

const fields: FieldTable<FilterRule> = {
  action: field('Action', 'other', 'ACCEPT, PAUSE, REJECT, CONTINUE or ["RATE_LIMIT", n]', (rule) => cell(rule.action)),
  predicates: field('Predicates', 'other', 'predicate list', (rule) =>
    cell(rule.predicates.map(([kind, filter]) => [kind, serializeFilter(parseFilter(filter))])),
  ),
  priority: field('Priority', 'other', 'rule priority, lower runs first', (rule) => cell(rule.priority)),
  reason_trail: field('ReasonTrail', 'other', 'reasons', (rule) => cell(rule.reason_trail)),
  uuid: field('UUID', 'other', 'rule UUID', (rule) => cell(rule.uuid)),
  watermark: field('Watermark', 'other', 'highest job id known when the rule was added', (rule) =>
    cell(rule.watermark),
  ),
}

export const filterResource: Resource<FilterRule> = {
  nameField: 'uuid',
  fields,
  all: ({ config }) => Object.values(config.filters),
  find: ({ config }, uuid) => (Object.hasOwn(config.filters, uuid) ? config.filters[uuid] : undefined),
}
