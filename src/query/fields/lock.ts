import { ProgrammerError } from '../../model/errors'
import { cell, field } from '../field'
import type { Resource } from '../resource'
import type { LockView } from '../source'

export const lockResource: Resource<LockView> = {
  nameField: 'name',
  async all({ locks }) {
    if (locks === undefined) throw new ProgrammerError('a query of locks needs a reader of locks')
    return [...(await locks.locks())]
  },
  fields: {
    mode: field('Mode', 'other', 'shared, exclusive or null', (lock) => cell(lock.mode)),
    name: field('Name', 'other', 'lock name, level/name', (lock) => cell(lock.name)),
    owner: field(
      'Owner',
      'other',
      'holders as JSON text: job 5 is "5", any other client is its name including double quotes',
      (lock) => cell(lock.owner),
    ),
    pending: field('Pending', 'other', 'waiters: [mode, [one client as in owner]]', (lock) => cell(lock.pending)),
  },
}
