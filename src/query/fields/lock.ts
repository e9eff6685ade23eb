// Query fields of locks.
import { ProgrammerError } from '../../model/errors'
import { cell, field, TEXTS } from '../field'
import type { Resource } from '../resource'
import type { LockView } from '../source'

export const lockResource: Resource<LockView> = {
  nameField: 'name',
  async all({ locks }) {
    if (locks === undefined) throw new ProgrammerError('a query of locks needs a reader of locks')
    return [...(await locks.locks())]
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
