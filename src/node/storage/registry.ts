// Every disk template that this node can serve.
import { disklessDriver } from './diskless'
import { drbdDriver } from './drbd/driver'
import { fileDriver } from './file'
import { lvmDriver } from './lvm/driver'
import type { DriverFactory } from './storage'

export const DRIVERS: Readonly<Record<string, DriverFactory>> = {
  diskless: disklessDriver,
  file: fileDriver,
  sharedfile: fileDriver,
  plain: lvmDriver,
  drbd: drbdDriver,
}
