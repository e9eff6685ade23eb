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

const [VOLUME = drbdDisk()] = CHILDREN
const [, NAME = ''] = (VOLUME.logical_id ?? []).map(String)
/** Room that is not next to the volume. */
const extended = (test = ''): RecordedProgram[] => [
  {
    argv: `lvextend -L +65536k${test} --alloc contiguous ${DATA}`,
    code: 5,
    stderr: 'Insufficient suitable contiguous',
  },
  does(`lvextend -L +65536k${test} --alloc cling ${DATA}`),
]
const RENAMES = CHILDREN.map((one): [typeof one, string[]] => [one, (one.logical_id ?? []).map((part) => (part === 'xenvg' ? part : `${part}_old`))]) // prettier-ignore
const VGS = {
  argv: 'vgs --noheadings --units=m --nosuffix --separator=| -ovg_name,vg_size,vg_free',
  stdout: '  xenvg|24572.00|24156.00\n',
}

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
  'blockdev_assemble of what is active, where the instance runs': on(
    5,
    (context) => blockdevHandlers.blockdev_assemble(context, drbdDisk(), { name: INSTANCE } as never, true, 0),
    [...ACTIVATED, SHOWN, does('drbdsetup primary 0')],
  ),
  'blockdev_assemble of what is active, on the other node': on(
    5,
    (context) => blockdevHandlers.blockdev_assemble(context, drbdDisk(), { name: INSTANCE } as never, false, 0),
    [...ACTIVATED, SHOWN],
  ),
  'blockdev_grow of what it is kept on, as a trial': on(
    4,
    (context) => blockdevHandlers.blockdev_grow(context, drbdDisk(), 64, true, true, false),
    [LVS, ...extended(' --test')],
  ),
  'blockdev_grow of what it is kept on': on(
    4,
    (context) => blockdevHandlers.blockdev_grow(context, drbdDisk(), 64, false, true, false),
    [LVS, ...extended()],
  ),
  'blockdev_grow of the device': {
    ...on(3, (context) => blockdevHandlers.blockdev_grow(context, drbdDisk(), 64, false, false, false), []),
    node: {
      kernel: [PAIR],
      size_mib: [192, 256],
      programs: [
        ...[SHOWN, { argv: `blockdev --getsize64 ${DATA}`, stdout: `${256 * 2 ** 20}\n` }],
        does('drbdsetup resize 0 --size 256m'),
      ],
    },
  },
  'blockdev_rename of two volumes': on(
    4,
    (context) => blockdevHandlers.blockdev_rename(context, RENAMES),
    RENAMES.flatMap(([{ logical_id = [] }, [, name]]) => [LVS, does(`lvrename xenvg ${logical_id?.[1]} ${name}`)]),
  ),
  blockdev_setinfo: on(
    8,
    (context) => blockdevHandlers.blockdev_setinfo(context, drbdDisk(), 'originstname+inst9.gnt.example'),
    [
      SHOWN,
      ...[DATA, META].flatMap((path) => [
        LVS,
        does(`lvchange --deltag ${OWNER} --addtag originstname+inst9.gnt.example ${path}`),
      ]),
    ],
  ),
  'plain: blockdev_create': on(
    6,
    (context) => blockdevHandlers.blockdev_create(context, VOLUME, 192, INSTANCE, true, OWNER, false),
    [does(`lvcreate -Wn -L192m -n${NAME} -i1 --addtag ${OWNER} xenvg`)],
  ),
  'plain: blockdev_assemble': on(
    1,
    (context) => blockdevHandlers.blockdev_assemble(context, VOLUME, { name: INSTANCE } as never, true, 0),
    [does(`lvchange -ay ${DATA}`)],
  ),
  'plain: blockdev_find': on(1, (context) => blockdevHandlers.blockdev_find(context, VOLUME), [LVS]),
  'plain: blockdev_grow': on(3, (context) => blockdevHandlers.blockdev_grow(context, VOLUME, 64, false, true, false), [
    LVS,
    ...extended(),
  ]),
  'plain: blockdev_grow of what is above it, which is nothing': on(
    1,
    (context) => blockdevHandlers.blockdev_grow(context, VOLUME, 64, false, false, false),
    [LVS],
  ),
  'plain: blockdev_snapshot': on(5, (context) => blockdevHandlers.blockdev_snapshot(context, VOLUME, null, null), [
    LVS,
    VGS,
    does(`lvcreate -L192m -s -n${NAME}.snap ${DATA}`),
  ]),
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
  const { asked: requested } = await onDrbdNode(node, async (context) => void (await work(context)))
  expect(requested.length).toBeGreaterThan(0)
  expect(requested.length).toBeLessThanOrEqual(ganeti)
})
