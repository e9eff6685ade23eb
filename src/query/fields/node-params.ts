// Query fields of nodes' parameters, by name.
import type { NdParams } from '../../model/params'
import { type FieldKind, type FieldTable, cell, field, PLAIN } from '../field'

const COLUMNS: Readonly<Record<keyof NdParams, readonly [kind: FieldKind, title?: string]>> = {
  cpu_speed: ['float'],
  exclusive_storage: ['bool', 'ExclusiveStorage'],
  oob_program: ['other', 'OutOfBandProgram'],
  ovs: ['bool', 'OpenvSwitch'],
  ovs_link: ['other', 'OpenvSwitchLink'],
  ovs_name: ['other', 'OpenvSwitchName'],
  spindle_count: ['number', 'SpindleCount'],
  ssh_port: ['number'],
}

/** `ndp/NAME` for every node parameter, of a node or of a group. */
export function nodeParamFields<Row>(filled: (row: Row) => NdParams): FieldTable<Row> {
  return Object.fromEntries(
    Object.entries(COLUMNS).map(([name, [kind, title]]) => [
      `ndp/${name}`,
      field<Row>(
        title ?? `ndp/${name}`,
        kind,
        `The "${name}" node parameter`,
        (row) => cell(value(filled(row), name)),
        { shape: PLAIN },
      ),
    ]),
  )
}

const value = (params: NdParams, name: string): unknown => Object.entries(params).find(([key]) => key === name)?.[1]
