// The table of gnt-filter: its commands, and the function that runs each.
import { type Tool, many, one } from '../command'
import { infoData } from '../output/data'
import { addFilter, deleteFilter, replaceFilter, showFilters } from './commands'
import { listFieldsCommand } from '../output/list'
import { listFilters } from '../output/lists'
import { LIST_OPTIONS, oNoHeaders, oSeparator } from '../input/options'
import { oAction, oPredicates, oRulePriority } from './options'

export const filterTool: Tool = {
  name: 'gnt-filter',
  commands: [
    {
      name: 'add',
      help: 'add a filter',
      usage: '',
      args: [],
      options: [oRulePriority, oPredicates, oAction],
      run: addFilter,
    },
    {
      name: 'list',
      help: 'list filters; default columns: uuid, watermark, priority, predicates, action, reason_trail',
      usage: '[<filter-uuid>...]',
      args: [many('filter UUID')],
      options: [...LIST_OPTIONS],
      ...listFilters,
    },
    {
      name: 'list-fields',
      help: 'list filter fields',
      usage: '[<fields>...]',
      args: [many('free text')],
      options: [oNoHeaders, oSeparator],
      ...listFieldsCommand('filter'),
    },
    {
      name: 'info',
      help: 'show filters',
      usage: '[<filter-uuid>...]',
      args: [many('filter UUID')],
      options: [],
      run: showFilters,
      data: infoData('filter', 'uuid'),
    },
    {
      name: 'replace',
      help: 'replace a filter',
      usage: '<filter-uuid>',
      args: [one('filter UUID')],
      options: [oRulePriority, oPredicates, oAction],
      run: replaceFilter,
    },
    {
      name: 'delete',
      help: 'delete a filter',
      usage: '<filter-uuid>',
      args: [one('filter UUID')],
      options: [],
      run: deleteFilter,
    },
  ],
}
