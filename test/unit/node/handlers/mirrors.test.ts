// Node calls about disks that two nodes keep the same, in the order of Ganeti's recordings.
import { mirrorHandlers } from '../../../../src/node/handlers/mirrors'
import { CONNECT_S } from '../../../../src/model/limits/storage'
import {
  CHILDREN,
  DATA,
  LVS,
  META,
  SECRET,
  SHOWN,
  WIPED,
  VERSION,
  drbdDisk,
  kernelSays,
  onDrbdNode,
  recorded,
  show,
} from '../../../support/drbd-node'
import type { RecordedProgram } from '../../../support/recorded-programs'

const [LOCAL, REMOTE] = ['ipv4:198.51.100.21:11000', 'ipv4:198.51.100.22:11000']
const connect = (dual = '') =>
  does(
    `drbdsetup connect resource0 ${LOCAL} ${REMOTE} --protocol C --after-sb-0pri discard-zero-changes --after-sb-1pri consensus` +
      `${dual} --cram-hmac-alg md5 --shared-secret ${SECRET}`,
  )
const CONNECT = connect()
const ALONE = recorded('proc-standalone.txt')
const SHOWN_ALONE = show(recorded('show-standalone.txt'))
const SHOWN_DISKLESS = show(recorded('show-diskless.txt'))
const WAITING = kernelSays('WFConnection', 'UpToDate/DUnknown')
const syncing = (percent: number) =>
  kernelSays(
    'SyncSource',
    'UpToDate/Inconsistent',
    'Primary/Secondary',
    `  sync'ed: ${percent}% (1/2)K\n  finish: 0:00:05 speed: 1 (1) K/sec`,
  )
function does(argv: string): RecordedProgram {
  return { argv }
}
const lines = (programs: readonly RecordedProgram[]) => programs.map(({ argv }) => String(argv))

describe('connecting', () => {
  const attach = (kernel: readonly string[], programs: readonly RecordedProgram[], dual = false) =>
    onDrbdNode({ kernel, programs: [SHOWN_ALONE, ...programs] }, (context) =>
      mirrorHandlers.drbd_attach_net(context, [drbdDisk()], dual),
    )

  test('waits until the other node is there, in sync or not', async () => {
    await attach([ALONE, ALONE, WAITING, WAITING, syncing(5)], [CONNECT, SHOWN])
  })

  test('that both nodes may write waits until both have all data', async () => {
    const kernel = [ALONE, ALONE, WAITING, kernelSays('SyncTarget', 'Inconsistent/UpToDate'), kernelSays('Connected')]
    await attach(kernel, [connect(' --allow-two-primaries'), SHOWN], true)
  })

  test('is tried again when the other node gave up at once', async () => {
    const kernel = [ALONE, ALONE, ALONE, ALONE, kernelSays('Connected')]
    await attach(kernel, [CONNECT, SHOWN_ALONE, CONNECT, SHOWN])
  })

  test('two copies that were both written tells of a split brain, and changes nothing', async () => {
    const programs = Array.from({ length: 11 }, (_, at) => [...(at < 10 ? [CONNECT] : []), SHOWN_ALONE]).flat()
    await expect(attach([ALONE], [CONNECT, ...programs])).rejects.toThrow(
      'Disk disk/0 (drbd node1-uuid node2-uuid 11000 0 0) on node node1.gnt.example is not connected with its other node ' +
        "(StandAlone, UpToDate/DUnknown): one of them has refused the other. If the kernel's log tells of a split brain, both were written to",
    )
  })

  test('a node that does not answer is told after a while', async () => {
    await expect(attach([ALONE, ALONE, WAITING], [CONNECT, SHOWN])).rejects.toThrow('see whether that node runs')
  })

  test('several disks wait for the other node together, not one after the other', async () => {
    const slow = Array.from({ length: 40 }, () => WAITING)
    const kernel = [ALONE, ALONE, ALONE, ALONE, ...slow, kernelSays('Connected'), WAITING]
    const programs = [SHOWN_ALONE, CONNECT, SHOWN_ALONE, CONNECT, SHOWN]
    await onDrbdNode({ kernel, programs }, async (context) => {
      const two = [drbdDisk(), drbdDisk()]
      await expect(mirrorHandlers.drbd_attach_net(context, two, false)).rejects.toThrow('see whether that node runs')
      expect(context.clock.monotonic_ms()).toBe(CONNECT_S * 1000)
    })
  })

  test('nodes that only compare what they have may refuse each other yet', async () => {
    const comparing = kernelSays('WFReportParams', 'UpToDate/DUnknown')
    const kernel = [ALONE, ALONE, comparing, ALONE, ALONE, kernelSays('Connected')]
    await attach(kernel, [CONNECT, SHOWN, CONNECT, SHOWN])
  })

  test('what is connected already is refused', async () => {
    const work = onDrbdNode({ kernel: [WAITING], programs: [SHOWN] }, (context) =>
      mirrorHandlers.drbd_attach_net(context, [drbdDisk()], false),
    )
    await expect(work).rejects.toThrow('cannot be connected on node node1.gnt.example: it is WFConnection already')
  })
})

test('disconnecting is repeated until the device stands alone; one that does is left', async () => {
  const disconnect = does(`drbdsetup disconnect ${LOCAL} ${REMOTE}`)
  const [up, leaving] = [kernelSays('Connected'), kernelSays('Disconnecting')]
  const detach = (kernel: readonly string[], programs: readonly RecordedProgram[]) =>
    onDrbdNode({ kernel, programs: [...programs] }, (context) =>
      mirrorHandlers.drbd_disconnect_net(context, [drbdDisk()]),
    )
  await detach([up, up, leaving, ALONE], [SHOWN, disconnect, disconnect])
  await detach([ALONE], [SHOWN_ALONE])
  // Without data, nothing is left that is configured.
  await detach([recorded('proc-diskless.txt'), recorded('proc-diskless.txt'), VERSION], [SHOWN_DISKLESS, disconnect])
  const endless = Array.from({ length: 37 }, () => disconnect)
  await expect(detach([up], [SHOWN, ...endless])).rejects.toThrow('does not close its connection (Connected)')
})

test('waiting for a synchronization answers at once how far the slowest disk is', async () => {
  const wait = (kernel: readonly string[], programs = [SHOWN]) =>
    onDrbdNode({ kernel, programs }, (context) => mirrorHandlers.drbd_wait_sync(context, [drbdDisk()]))
  await expect(wait([kernelSays('Connected')])).resolves.toMatchObject({ result: [true, 100] })
  await expect(wait([syncing(68.5)])).resolves.toMatchObject({ result: [false, 68.5] })
  await expect(wait([WAITING, WAITING, syncing(1)])).resolves.toMatchObject({ result: [false, 1] })
  await expect(wait([WAITING])).rejects.toThrow(
    'is not connected with its other node (WFConnection, UpToDate/DUnknown)',
  )
})

test.each<[string, readonly string[], RecordedProgram[], boolean]>([
  ['in sync', [kernelSays('Connected')], [SHOWN], false],
  ['waiting for its other node', [WAITING], [SHOWN], false],
  ['not there', [VERSION], [], true],
  ['standing alone', [ALONE], [SHOWN_ALONE], true],
  ['without data', [recorded('proc-diskless.txt')], [SHOWN_DISKLESS], true],
  ['waiting for a node that it has left', [WAITING], [show(SHOWN.stdout?.replaceAll('100.22', '100.23') ?? '')], true],
  ['on a node without DRBD', [], [], true],
])('a disk that is %s: whether it needs to be activated', async (_what, kernel, programs, needs) => {
  const { result } = await onDrbdNode({ kernel, programs: [...programs] }, (context) =>
    mirrorHandlers.drbd_needs_activation(context, [drbdDisk()]),
  )
  expect(result).toEqual(needs ? [drbdDisk().uuid] : [])
})

test('new volumes are attached after their notes were begun on a minor that nobody uses', async () => {
  const programs = [
    SHOWN_DISKLESS,
    LVS,
    { argv: `blockdev --getsize64 ${META}`, stdout: '134217728\n' },
    WIPED,
    does(`drbdmeta --force /dev/drbd255 v08 ${META} flex-external create-md`),
    does(`drbdmeta /dev/drbd0 v08 ${META} flex-external apply-al`),
    does(`drbdmeta /dev/drbd0 v08 ${META} flex-external show-gi`),
    does(`drbdsetup attach 0 ${DATA} ${META} flexible --on-io-error=detach --size 192m`),
    does('drbdsetup disk-options 0 --resync-rate 61440'),
  ]
  const { asked: requested } = await onDrbdNode({ kernel: [recorded('proc-diskless.txt')], programs }, (context) =>
    mirrorHandlers.blockdev_addchildren(context, drbdDisk(), CHILDREN),
  )
  expect(requested).toEqual(lines(programs))
})

test('notes that are begun at the same time have minors of their own, and none that is named already', async () => {
  const taken = ' 254: cs:Unconfigured\n'
  const one = [
    ...[SHOWN_DISKLESS, LVS, { argv: `blockdev --getsize64 ${META}`, stdout: '134217728\n' }, WIPED],
    does(`drbdmeta /dev/drbd0 v08 ${META} flex-external apply-al`),
    does(`drbdmeta /dev/drbd0 v08 ${META} flex-external show-gi`),
    does(`drbdsetup attach 0 ${DATA} ${META} flexible --on-io-error=detach --size 192m`),
    does('drbdsetup disk-options 0 --resync-rate 61440'),
  ]
  const notes = [255, 253].map((minor) =>
    does(`drbdmeta --force /dev/drbd${minor} v08 ${META} flex-external create-md`),
  )
  const node = { kernel: [recorded('proc-diskless.txt') + taken], programs: [...one, ...one, ...notes] }
  await onDrbdNode(node, (context) =>
    Promise.all([1, 2].map(() => mirrorHandlers.blockdev_addchildren(context, drbdDisk(), CHILDREN))),
  )
})

test('volumes that are missing, or when there are others already, are not attached', async () => {
  const add = (kernel: string, programs: readonly RecordedProgram[]) =>
    onDrbdNode({ kernel: [kernel], programs }, (context) =>
      mirrorHandlers.blockdev_addchildren(context, drbdDisk(), CHILDREN),
    )
  await expect(add(recorded('proc-diskless.txt'), [{ argv: LVS.argv }, SHOWN_DISKLESS])).rejects.toThrow(
    "Can't find device (plain xenvg 55e04c36-651d-49a5-9f42-a46dd12e9286.disk0_data) on node node1.gnt.example",
  )
  await expect(add(kernelSays('Connected'), [LVS, SHOWN])).rejects.toThrow(`has its data on ${DATA} on node`)
})

test('volumes are detached that are attached, and no others', async () => {
  const remove = (kernel: string, programs: readonly RecordedProgram[], children = CHILDREN) =>
    onDrbdNode({ kernel: [kernel], programs }, (context) =>
      mirrorHandlers.blockdev_removechildren(context, drbdDisk(), children),
    )
  await remove(kernelSays('Connected'), [SHOWN, does('drbdsetup detach 0')])
  await remove(recorded('proc-diskless.txt'), [SHOWN_DISKLESS])
  const others = CHILDREN.toReversed()
  await expect(remove(kernelSays('Connected'), [SHOWN], others)).rejects.toThrow(`not on ${META}, ${DATA}`)
})

test('a synchronization is paused and goes on; a disk that has none is as wanted, one that is missing is told', async () => {
  const pause = (programs: readonly RecordedProgram[], desired = true) =>
    onDrbdNode({ kernel: [kernelSays('Connected')], programs: [LVS, ...programs] }, (context) =>
      mirrorHandlers.blockdev_pause_resume_sync(context, [drbdDisk(), ...CHILDREN.slice(0, 1)], desired),
    )
  const both = { result: [[true, null], [true, null]] } // prettier-ignore
  await expect(pause([SHOWN, does('drbdsetup pause-sync 0')])).resolves.toMatchObject(both)
  const already = {
    argv: 'drbdsetup resume-sync 0',
    code: 10,
    stderr: '0: Failure: (134) Sync-pause flag is already cleared\n',
  }
  await expect(pause([SHOWN, already], false)).resolves.toMatchObject(both)
  const broken = { argv: 'drbdsetup pause-sync 0', code: 10, stderr: '0: Failure: (127) Device minor not allocated\n' }
  const { result } = await pause([SHOWN, broken])
  expect(result[0]).toEqual([false, expect.stringContaining('Cannot pause the synchronization of disk disk/0')])
  const missing = await onDrbdNode({ kernel: [VERSION], programs: [] }, (context) =>
    mirrorHandlers.blockdev_pause_resume_sync(context, [drbdDisk()], true),
  )
  expect(missing.result).toEqual([[false, expect.stringContaining("Can't find device disk/0")]])
})

test('what only a mirror can is refused for other disks', async () => {
  const [plain] = CHILDREN
  if (plain === undefined) throw new Error('no plain disk')
  const work = onDrbdNode({ programs: [LVS] }, (context) => mirrorHandlers.drbd_wait_sync(context, [plain]))
  await expect(work).rejects.toThrow("A disk of template 'plain' has no copy on another node")
})

test("the kernel's helper is told, or why there is none", async () => {
  const reported = onDrbdNode({ helper: '/bin/true\n', kernel: [VERSION] }, (context) =>
    mirrorHandlers.drbd_helper(context),
  )
  await expect(reported).resolves.toMatchObject({ result: '/bin/true' })
  const loaded = onDrbdNode({}, (context) => mirrorHandlers.drbd_helper(context))
  await expect(loaded).rejects.toThrow('DRBD is not loaded on node node1.gnt.example, there is no /sys/module/drbd')
  const other = onDrbdNode({ helper: '/bin/true\n', kernel: ['version: 9.2.8 (api:2/proto:86-122)\n'] }, (context) =>
    mirrorHandlers.drbd_helper(context),
  )
  await expect(other).rejects.toThrow(
    'DRBD 9.2.8 (api:2/proto:86-122) is loaded on node node1.gnt.example: only 8.4, which kernels have, is supported; remove the package',
  )
  const empty = onDrbdNode({ helper: '\n' }, (context) => mirrorHandlers.drbd_helper(context))
  await expect(empty).rejects.toThrow('is empty')
})
