// Opcodes that ask for data through a job.
import { listOf } from '../lib/shapes/containers'
import { any, nonEmpty } from '../lib/shapes/leaves'
import { pQueryResource, pUseLocking } from './common'
import { maybe, opcode, req } from './opcode'
import { queryAnswer, queryFieldsAnswer } from './types'

export const OpQuery = opcode('OP_QUERY', {
  doc: 'Query2 over opcode-backed resources.',
  permission: 'query.all',
  summary: 'what',
  result: queryAnswer,
  params: {
    what: pQueryResource,
    use_locking: pUseLocking,
    fields: req(listOf(nonEmpty), 'Field names'),
    qfilter: maybe(listOf(any), 'Query filter'),
  },
})

export const OpQueryFields = opcode('OP_QUERY_FIELDS', {
  doc: 'Field list for opcode-backed resources.',
  permission: 'query.all',
  summary: 'what',
  result: queryFieldsAnswer,
  params: {
    what: pQueryResource,
    fields: maybe(listOf(nonEmpty), 'Field names'),
  },
})
