// Rules of the job filter chain.
import type { ConfigData, FilterRule } from '../../model/config'
import { done, drop, get, put, type ChangeContext, type Changed } from '../edit'

/** Adds the rule, or replaces the one with its uuid. */
export const setFilterRule = (config: ConfigData, _context: ChangeContext, rule: FilterRule): Changed<null> =>
  done(put(config, 'filters', rule))

export function removeFilterRule(config: ConfigData, _context: ChangeContext, uuid: string): Changed<null> {
  get(config, 'filters', uuid)
  return done(drop(config, 'filters', uuid))
}
