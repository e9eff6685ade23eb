// How many programs each call about disks starts on a node, beside Ganeti's node daemon: never more. Its numbers are the smallest of all
// calls of that kind in the recordings that test/golden/storage is from.
import { blockdevHandlers } from '../../../../src/node/handlers/blockdev'
import { mirrorHandlers } from '../../../../src/node/handlers/mirrors'
import type { NodeContext } from '../../../../src/node/context'
import type { RecordedProgram } from '../../../support/recorded-programs'
import {
  CHILDREN,
  DATA,
  type DrbdNode,
  LVS,
  META,
  SECRET,
  SHOWN,
  VERSION,
  WIPED,
  drbdDisk,
  kernelSays,
  onDrbdNode,
  recorded,
  show,
} from '../../../support/drbd-node'

const does = (argv: string): RecordedProgram => ({ argv })
const INSTANCE = 'inst2.gnt.example'
const OWNER = `originstname+${INSTANCE}`
const [LOCAL, REMOTE] = ['ipv4:198.51.100.21:11000', 'ipv4:198.51.100.22:11000']
const META_SIZE = { argv: `blockdev --getsize64 ${META}`, stdout: `${128 * 2 ** 20}\n` }
const ACTIVATED = [does(`lvchange -ay ${DATA}`), does(`lvchange -ay ${META}`)]
const ATTACHED = [
  does(`drbdmeta /dev/drbd0 v08 ${META} flex-external apply-al`),
  does(`drbdmeta /dev/drbd0 v08 ${META} flex-external show-gi`),
  does(`drbdsetup attach 0 ${DATA} ${META} flexible --on-io-error=detach --size 192m`),
  does('drbdsetup disk-options 0 --resync-rate 61440'),
]
const connected = (dual = '') =>
  does(
    `drbdsetup connect resource0 ${LOCAL} ${REMOTE} --protocol C --after-sb-0pri discard-zero-changes --after-sb-1pri consensus` +
      `${dual} --cram-hmac-alg md5 --shared-secret ${SECRET}`,
  )
const BEGUN = [
  does('drbdsetup new-resource resource0'),
  does('drbdsetup new-minor resource0 0 0'),
  ...ATTACHED,
  connected(),
]
const CREATED = [
  ...ACTIVATED,
  META_SIZE,
  WIPED,
  does(`drbdmeta --force /dev/drbd0 v08 ${META} flex-external create-md`),
  ...BEGUN,
]
const PAIR = kernelSays('Connected')
const REMOVED = CHILDREN.map(({ logical_id }) => does(`lvremove -f ${logical_id?.join('/')}`))
const DETACHED = show(recorded('show-diskless.txt'))

interface Counted {
  readonly ganeti: number
  readonly node: DrbdNode
  readonly work: (context: NodeContext) => unknown
}

const on = (ganeti: number, work: Counted['work'], programs: readonly RecordedProgram[], ...kernel: string[]) =>
  ({ ganeti, work, node: { kernel: kernel.length === 0 ? [PAIR] : kernel, programs } }) satisfies Counted

const CALLS: Readonly<Record<string, Counted>> = {
  'blockdev_create where the instance runs': on(
    25,
    (context) => blockdevHandlers.blockdev_create(context, drbdDisk(), 192, INSTANCE, true, OWNER, false),
    [...CREATED, does('drbdsetup primary 0 --force')],
    ...[VERSION, VERSION],
  ),
  'blockdev_create on the other node': on(
    20,
    (context) => blockdevHandlers.blockdev_create(context, drbdDisk(), 192, INSTANCE, false, '', false),
    CREATED,
    VERSION,
  ),
  blockdev_remove: on(6, (context) => blockdevHandlers.blockdev_remove(context, drbdDisk()), [
    LVS,
    SHOWN,
    does('drbdsetup down resource0'),
    ...REMOVED,
    LVS,
  ]),
  blockdev_find: on(2, (context) => blockdevHandlers.blockdev_find(context, drbdDisk()), [SHOWN]),
  blockdev_getmirrorstatus: on(2, (context) => blockdevHandlers.blockdev_getmirrorstatus(context, [drbdDisk()]), [
    LVS,
    SHOWN,
  ]),
  blockdev_close: on(3, (context) => blockdevHandlers.blockdev_close(context, INSTANCE, [drbdDisk()]), [
    SHOWN,
    does('drbdsetup secondary 0'),
  ]),
  blockdev_shutdown: on(5, (context) => blockdevHandlers.blockdev_shutdown(context, drbdDisk()), [
    LVS,
    SHOWN,
    does('drbdsetup down resource0'),
  ]),
  drbd_disconnect_net: on(
    3,
    (context) => mirrorHandlers.drbd_disconnect_net(context, [drbdDisk()]),
    [SHOWN, does(`drbdsetup disconnect ${LOCAL} ${REMOTE}`)],
    ...[PAIR, PAIR, recorded('proc-standalone.txt')],
  ),
  drbd_attach_net: on(
    6,
    (context) => mirrorHandlers.drbd_attach_net(context, [drbdDisk()], true),
    [show(recorded('show-standalone.txt')), connected(' --allow-two-primaries'), SHOWN],
    ...[recorded('proc-standalone.txt'), recorded('proc-standalone.txt'), PAIR],
  ),
  drbd_needs_activation: on(1, (context) => mirrorHandlers.drbd_needs_activation(context, [drbdDisk()]), [SHOWN]),
  drbd_wait_sync: on(2, (context) => mirrorHandlers.drbd_wait_sync(context, [drbdDisk()]), [SHOWN]),
  blockdev_addchildren: on(
    13,
    (context) => mirrorHandlers.blockdev_addchildren(context, drbdDisk(), CHILDREN),
    [
      LVS,
      DETACHED,
      META_SIZE,
      WIPED,
      does(`drbdmeta --force /dev/drbd255 v08 ${META} flex-external create-md`),
      ...ATTACHED,
    ],
    recorded('proc-diskless.txt'),
  ),
}

test.each(Object.entries(CALLS))('%s starts no more programs than Ganeti', async (_call, { ganeti, node, work }) => {
  const { asked } = await onDrbdNode(node, async (context) => void (await work(context)))
  expect(asked.length).toBeGreaterThan(0)
  expect(asked.length).toBeLessThanOrEqual(ganeti)
})
