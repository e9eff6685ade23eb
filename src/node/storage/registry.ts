// Every disk template that this node can serve.
import { fail } from '../context'
import { disklessStorage } from './diskless'
import { fileStorage } from './file'
import type { Storage, StorageContext, StorageFactory } from './storage'

export const storages: Readonly<Record<string, StorageFactory>> = {
  diskless: disklessStorage,
  file: fileStorage,
  sharedfile: fileStorage,
}

export function storageFor(context: StorageContext, template: string): Storage {
  const factory = Object.hasOwn(storages, template) ? storages[template] : undefined
  if (factory === undefined) return fail(`This node has no support for disks of template '${template}'`)
  return factory(context)
}
