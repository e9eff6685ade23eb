// Opcodes that compare OS definitions and storage providers over the nodes.
import { listOf } from '../lib/shapes/containers'
import { any } from '../lib/shapes/leaves'
import { pNames, pOutputFields } from './common'
import { opcode } from './opcode'

export const OpOsDiagnose = opcode('OP_OS_DIAGNOSE', {
  doc: 'Tabulates OS definitions over nodes.',
  permission: 'os.list',
  result: listOf(listOf(any)),
  params: {
    output_fields: pOutputFields,
    names: pNames,
  },
})

export const OpExtStorageDiagnose = opcode('OP_EXT_STORAGE_DIAGNOSE', {
  doc: 'Tabulates ExtStorage providers over nodes.',
  permission: 'os.list',
  result: listOf(listOf(any)),
  params: {
    output_fields: pOutputFields,
    names: pNames,
  },
})
