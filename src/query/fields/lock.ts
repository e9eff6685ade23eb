// Query fields of locks.
import { recordGet } from '../../config/records'
import type { ConfigData } from '../../model/config'
import { ProgrammerError } from '../../model/errors'
import { levelOf } from '../../model/lock-names'
import { cell, field, optional, TEXTS } from '../field'
import type { Resource } from '../resource'
import type { LockView } from '../source'

interface LockRow extends LockView {
  readonly object: string | undefined
}

export const lockResource: Resource<LockRow> = {
  nameField: 'name',
  async all({ locks, config }) {
    if (locks === undefined) throw new ProgrammerError('a query of locks needs a reader of locks')
    return (await locks.locks()).map((lock) => ({ ...lock, object: objectOf(lock, config) }))
  },
  fields: {
    mode: field(
      'Mode',
      'other',
      'Mode in which the lock is currently acquired (exclusive or shared)',
      (lock) => cell(lock.mode),
      { shape: 'string' },
    ),
    name: field('Name', 'other', 'Lock name', (lock) => cell(lock.name), { shape: 'string' }),
    object: field(
      'Object',
      'text',
      'Name of the node, node group or network whose UUID is in the name of the lock',
      ({ object }) => optional(object),
      { ours: true },
    ),
    owner: field('Owner', 'other', 'Current lock owner(s)', (lock) => cell(lock.owner), { shape: TEXTS }),
    pending: field('Pending', 'other', 'Jobs waiting for the lock', (lock) => cell(lock.pending), {
      shape: 'unknown[][]',
    }),
    waited: field('Waited', 'bool', 'Whether somebody waits for it', ({ pending }) => cell(pending.length > 0), {
      ours: true,
    }),
    waiting: field(
      'Waiting',
      'other',
      'Who waits for it, each as in `owner`',
      ({ pending }) => cell([...new Set(pending.flatMap(([, owners]) => owners))]),
      { shape: TEXTS, ours: true },
    ),
  },
}

function objectOf({ name }: LockView, { nodes, nodegroups, networks }: ConfigData): string | undefined {
  const uuid = name.slice(name.indexOf('/') + 1)
  switch (levelOf(name)) {
    case 'node':
    case 'node-res':
      return recordGet(nodes, uuid)?.name
    case 'nodegroup':
      return recordGet(nodegroups, uuid)?.name
    case 'network':
      return recordGet(networks, uuid)?.name
    default:
      return undefined
  }
}
