// Every disk template that this node can serve.
import { blockdevDriver } from './blockdev'
import { disklessDriver } from './diskless'
import { drbdDriver } from './drbd/driver'
import { extDriver } from './ext/driver'
import { fileDriver } from './file'
import { glusterDriver } from './gluster/driver'
import { lvmDriver } from './lvm/driver'
import { rbdDriver } from './rbd/driver'
import type { DriverFactory } from './storage'
import { userVolumeDriver } from './user/driver'
import { userMirrorDriver } from './user/mirror'

export const DRIVERS: Readonly<Record<string, DriverFactory>> = {
  diskless: disklessDriver,
  file: fileDriver,
  sharedfile: fileDriver,
  plain: (context) => (context.userVolumes === undefined ? lvmDriver : userVolumeDriver(context.userVolumes))(context),
  drbd: (context) => (context.userVolumes === undefined ? drbdDriver : userMirrorDriver)(context),
  blockdev: blockdevDriver,
  rbd: rbdDriver,
  ext: extDriver,
  gluster: glusterDriver,
}
