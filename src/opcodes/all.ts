// Every opcode that a job can hold, by id.
import { GenericError } from '../model/errors'
import * as allocation from './allocation'
import * as backup from './backup'
import * as cluster from './cluster'
import * as group from './group'
import * as instance from './instance'
import * as network from './network'
import * as node from './node'
import * as os from './os'
import * as repair from './repair'
import * as snapshot from './snapshot'
import * as query from './query'
import * as tags from './tags'
import * as test from './test'
import type { OpcodeDefinition } from './opcode'

const tables = {
  ...allocation,
  ...cluster,
  ...query,
  ...node,
  ...instance,
  ...snapshot,
  ...repair,
  ...group,
  ...os,
  ...backup,
  ...tags,
  ...network,
  ...test,
}

type AnyDefinition = (typeof tables)[keyof typeof tables]
export type OpcodeId = AnyDefinition['id']

export const allOpcodes: ReadonlyMap<string, OpcodeDefinition> = new Map(
  Object.values<OpcodeDefinition>(tables).map((definition) => [definition.id, definition]),
)

export function definitionOf(id: string): OpcodeDefinition {
  const definition = allOpcodes.get(id)
  if (definition === undefined) throw new GenericError(`There is no opcode ${id}`)
  return definition
}

export const opcodeIds: readonly OpcodeId[] = Object.values(tables).map((definition) => definition.id)
