// Options that only gnt-filter has.
import { value } from '../input/option'

export const oAction = value(
  '--action',
  'action',
  'filteraction',
  'ACCEPT, PAUSE, REJECT, CONTINUE, or "RATE_LIMIT n" (n > 0)',
  { default: 'CONTINUE' },
)
export const oPredicates = value('--predicates', 'predicates', 'json', 'filter predicates as JSON list')
export const oRulePriority = value('--priority', 'priority', 'int', 'rule priority, lower runs first', { default: 0 })
