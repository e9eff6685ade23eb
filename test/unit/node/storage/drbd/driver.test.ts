// The commands that a disk of DRBD gives on its node, in the order of Ganeti's recordings, and what is made of the kernel's words.
import type { NodeContext } from '../../../../../src/node/context'
import { Disks } from '../../../../../src/node/storage/disks'
import {
  CHILDREN,
  DATA,
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
} from '../../../../support/drbd-node'
import { notInstalled, type RecordedProgram } from '../../../../support/recorded-programs'

const does = (argv: string): RecordedProgram => ({ argv })
const ACTIVATED = [does(`lvchange -ay ${DATA}`), does(`lvchange -ay ${META}`)]
const BEGUN = [does('drbdsetup new-resource resource0'), does('drbdsetup new-minor resource0 0 0')]
const agreed = (mib: number): RecordedProgram => ({
  argv: `drbdmeta /dev/drbd0 v08 ${META} flex-external show-gi`,
  stdout: `flags: Secondary, StandAlone, UpToDate\nmeta-data: clean\nlast agreed size: ${mib} MB (${mib * 2048} sectors)\n`,
})
const ATTACHED = [
  does(`drbdmeta /dev/drbd0 v08 ${META} flex-external apply-al`),
  agreed(192),
  does(`drbdsetup attach 0 ${DATA} ${META} flexible --on-io-error=detach --size 192m`),
  does('drbdsetup disk-options 0 --resync-rate 61440'),
]
const [LOCAL, REMOTE] = ['ipv4:198.51.100.21:11000', 'ipv4:198.51.100.22:11000']
const CONNECTED = does(
  `drbdsetup connect resource0 ${LOCAL} ${REMOTE} --protocol C --after-sb-0pri discard-zero-changes --after-sb-1pri consensus` +
    ` --cram-hmac-alg md5 --shared-secret ${SECRET}`,
)
const DOWN = does('drbdsetup down resource0')
const size = (device: string, mib: number) => ({ argv: `blockdev --getsize64 ${device}`, stdout: `${mib * 2 ** 20}\n` })
const failing = (argv: string, code: number, stderr: string): RecordedProgram => ({ argv, code, stderr })
const lines = (programs: readonly RecordedProgram[]) => programs.map(({ argv }) => String(argv))
const assemble = (context: NodeContext) => new Disks(context).assemble(drbdDisk())

test('a disk is made of its notes alone, on a minor that is free; its secret is not told', async () => {
  const programs = [
    ...ACTIVATED,
    size(META, 128),
    WIPED,
    does(`drbdmeta --force /dev/drbd0 v08 ${META} flex-external create-md`),
  ]
  const made = await onDrbdNode({ kernel: [VERSION], programs }, (context) =>
    new Disks(context).create(drbdDisk(), 192),
  )
  expect(made.result).toEqual(['node1-uuid', 'node2-uuid', 11000, 0, 0, null])
  expect(made.asked).toEqual(lines(programs))
})

test('a minor that somebody uses is refused before anything is written', async () => {
  const other = show(recorded('show-connected.txt').replaceAll('55e04c36', 'other'))
  const node = { kernel: [kernelSays('Connected')], programs: [...ACTIVATED, other] }
  await expect(onDrbdNode(node, (context) => new Disks(context).create(drbdDisk(), 192))).rejects.toThrow(
    'Minor 0 of DRBD on node node1.gnt.example (resource0, on /dev/xenvg/other-651d-49a5-9f42-a46dd12e9286.disk0_data) exists already',
  )
})

test('a disk that is active cannot be made again, and the error says how it is ended', async () => {
  const node = { kernel: [kernelSays('Connected')], programs: [...ACTIVATED, show(recorded('show-connected.txt'))] }
  await expect(onDrbdNode(node, (context) => new Disks(context).create(drbdDisk(), 192))).rejects.toThrow(
    'Disk disk/0 (drbd node1-uuid node2-uuid 11000 0 0) is active on node node1.gnt.example, so it cannot be made again: ' +
      'gnt-instance deactivate-disks ends that',
  )
})

test('a minor that somebody only named is refused; one of this disk that was not begun further is not', async () => {
  const kernel = [`${VERSION}\n 0: cs:Unconfigured\n`]
  const named = (resource: string) =>
    show(
      `resource ${resource} {\n    _this_host {\n        volume 0 {\n            device minor 0;\n        }\n    }\n}\n`,
    )
  const stranger = { kernel, programs: [...ACTIVATED, named('stranger')] }
  const reported =
    /^Minor 0 of DRBD on node node1\S+ \(stranger\) .*: 'gnt-node list-drbd node1\S+' shows whether a disk has it; if none does, 'drbdsetup down stranger' on this node frees it$/
  await expect(onDrbdNode(stranger, (context) => new Disks(context).create(drbdDisk(), 192))).rejects.toThrow(reported)
  await expect(onDrbdNode(stranger, assemble)).rejects.toThrow(reported)
  const notes = does(`drbdmeta --force /dev/drbd0 v08 ${META} flex-external create-md`)
  const own = { kernel, programs: [...ACTIVATED, named('resource0'), size(META, 128), WIPED, notes] }
  const made = await onDrbdNode(own, (context) => new Disks(context).create(drbdDisk(), 192))
  expect(made.result).toEqual(['node1-uuid', 'node2-uuid', 11000, 0, 0, null])
})

test('notes that have too little or too much room are refused, and so are nodes with exclusive storage', async () => {
  for (const mib of [127, 1025])
    await expect(
      onDrbdNode({ kernel: [VERSION], programs: [...ACTIVATED, size(META, mib)] }, (context) =>
        new Disks(context).create(drbdDisk(), 192),
      ),
    ).rejects.toThrow(`has ${mib} MiB: notes of DRBD need 128 MiB, and at most 1024 MiB`)
  await expect(
    onDrbdNode({ kernel: [VERSION], programs: ACTIVATED }, (context) =>
      new Disks(context).create(drbdDisk(), 192, { exclusive: true }),
    ),
  ).rejects.toThrow('where storage is exclusive')
})

const created = [size(META, 128), WIPED, does(`drbdmeta --force /dev/drbd0 v08 ${META} flex-external create-md`)]

test('on the primary node a new disk is written from the start; its volumes, which were made before, have their notes', async () => {
  const steps = [...ACTIVATED, ...created, ...BEGUN, ...ATTACHED, CONNECTED]
  const programs = [...steps, does('drbdsetup primary 0 --force')]
  const kernel = [VERSION]
  const options = { onPrimary: true, info: 'originstname+inst2.gnt.example' }
  const { result, asked: requested } = await onDrbdNode({ kernel, programs }, (context) =>
    new Disks(context).createAndUse(drbdDisk(), 192, options),
  )
  expect(result.device).toEqual({ path: '/dev/drbd0', block: true, major: 147, minor: 0 })
  expect(requested).toEqual(lines(programs))
})

test('on the other node a new disk only gets ready to be written by the first', async () => {
  const programs = [...ACTIVATED, ...created, ...BEGUN, ...ATTACHED, CONNECTED]
  const options = { onPrimary: false, info: '' }
  await onDrbdNode({ kernel: [VERSION], programs }, (context) =>
    new Disks(context).createAndUse(drbdDisk(), 192, options),
  )
})

test('a disk that cannot be connected is taken back', async () => {
  const refused = failing(
    String(CONNECTED.argv),
    10,
    `${LOCAL} ${REMOTE}: Failure: (102) Local address(port) already in use.\n`,
  )
  const programs = [...ACTIVATED, ...created, ...BEGUN, ...ATTACHED, refused, DOWN]
  const options = { onPrimary: true, info: '' }
  const work = onDrbdNode({ kernel: [VERSION], programs }, (context) =>
    new Disks(context).createAndUse(drbdDisk(), 192, options),
  )
  await expect(work).rejects.toThrow('on node node1.gnt.example: ipv4:198.51.100.21:11000')
  await expect(work).rejects.not.toThrow(SECRET)
})

test('a disk is assembled from nothing: first its data, then the way to the other node', async () => {
  const programs = [...ACTIVATED, ...BEGUN, ...ATTACHED, CONNECTED]
  const { result, asked: requested } = await onDrbdNode({ kernel: [VERSION], programs }, assemble)
  expect(result).toEqual({ path: '/dev/drbd0', block: true, major: 147, minor: 0 })
  expect(requested).toEqual(lines(programs))
})

test('a disk that has grown when the cluster did not know is never made smaller', async () => {
  const programs = [...ACTIVATED, ...BEGUN, ...ATTACHED.slice(0, 1), agreed(256), DOWN]
  await expect(onDrbdNode({ kernel: [VERSION], programs }, assemble)).rejects.toThrow(
    'has grown to 256 MiB on node node1.gnt.example, and the cluster knows of 192 MiB, which would cut its end off: gnt-instance activate-disks',
  )
  const sizeless = { ...ATTACHED[2], argv: String(ATTACHED[2]?.argv).replace(' --size 192m', '') }
  const whole = [
    ...ACTIVATED,
    ...BEGUN,
    ...ATTACHED.slice(0, 1),
    agreed(256),
    sizeless,
    ...ATTACHED.slice(3),
    CONNECTED,
  ]
  await onDrbdNode({ kernel: [VERSION], programs: whole }, (context) =>
    new Disks(context).assemble(drbdDisk({ size: 0 })),
  )
})

test('options that DRBD does not take at once are given again', async () => {
  const early = failing('drbdsetup disk-options 0 --resync-rate 61440', 10, '0: Failure: (118) IO error(s) occurred\n')
  const programs = [...ACTIVATED, ...BEGUN, ...ATTACHED.slice(0, 3), early, early, ...ATTACHED.slice(3), CONNECTED]
  await onDrbdNode({ kernel: [VERSION], programs }, assemble)
})

test('a disk whose volumes are lost on this node goes on with the data of the other', async () => {
  const lost = (argv: string) => failing(argv, 5, '  Failed to find logical volume\n')
  const programs = [lost(`lvchange -ay ${DATA}`), lost(`lvchange -ay ${META}`), ...BEGUN, CONNECTED]
  await onDrbdNode({ kernel: [VERSION], programs }, assemble)
  const alone = drbdDisk({ logical_id: ['a', 'b', null, 0, 0, SECRET] })
  await expect(
    onDrbdNode({ kernel: [VERSION], programs: programs.slice(0, 2) }, (context) => new Disks(context).assemble(alone)),
  ).rejects.toThrow('the devices that it is kept on are missing, and it has no other node yet')
})

test('so does a disk whose notes are missing, as after an exchange of volumes that ended half-way', async () => {
  const empty = failing(`drbdmeta /dev/drbd0 v08 ${META} flex-external apply-al`, 255, 'No valid meta data found\n')
  const programs = [...ACTIVATED, ...BEGUN, empty, CONNECTED]
  await onDrbdNode({ kernel: [VERSION], programs }, assemble)
})

test.each<[string, string, RecordedProgram, RecordedProgram[]]>([
  ['is complete', kernelSays('Connected'), SHOWN, []],
  ['lost its data', recorded('proc-diskless.txt'), show(recorded('show-diskless.txt')), ATTACHED],
  ['lost its connection', recorded('proc-standalone.txt'), show(recorded('show-standalone.txt')), [CONNECTED]],
])('a disk that %s gets what it lacks, and no more', async (_what, kernel, displayed, programs) => {
  const { asked: requested } = await onDrbdNode(
    { kernel: [kernel], programs: [...ACTIVATED, displayed, ...programs] },
    assemble,
  )
  expect(requested.slice(3)).toEqual(lines(programs))
})

test('a disk that looks for a node which is not its own any more is connected with the right one', async () => {
  const stale = show(recorded('show-connected.txt').replace('198.51.100.22:11000', '198.51.100.23:11000'))
  const apart = does(`drbdsetup disconnect ${LOCAL} ipv4:198.51.100.23:11000`)
  const kernel = [kernelSays('WFConnection', 'UpToDate/DUnknown'), kernelSays('StandAlone', 'UpToDate/DUnknown')]
  const { asked: requested } = await onDrbdNode({ kernel, programs: [...ACTIVATED, stale, apart, CONNECTED] }, assemble)
  expect(requested.slice(3)).toEqual(lines([apart, CONNECTED]))
})

test.each([
  ['other data', recorded('show-connected.txt').replaceAll('55e04c36', 'other')],
  ['another port', recorded('show-diskless.txt').replace('198.51.100.21:11000', '198.51.100.21:11009')],
])('a minor with %s is a stranger: it is never taken, nor shut down', async (_what, displayed) => {
  const kernel = [kernelSays('Connected')]
  await expect(onDrbdNode({ kernel, programs: [...ACTIVATED, show(displayed)] }, assemble)).rejects.toThrow(
    "is used by somebody else, so disk disk/0 (drbd node1-uuid node2-uuid 11000 0 0) cannot have it: 'gnt-node list-drbd node1",
  )
  await onDrbdNode({ kernel, programs: [show(displayed)] }, (context) => new Disks(context).shutdown(drbdDisk()))
  const find = onDrbdNode({ kernel, programs: [show(displayed)] }, (context) => new Disks(context).find(drbdDisk()))
  await expect(find).resolves.toMatchObject({ result: undefined })
})

test.each<[string, readonly string[], string]>([
  [
    'is not loaded',
    [],
    'there is no /proc/drbd: install the Debian package drbd-utils, and load it with modprobe drbd',
  ],
  ['is of version 9', [VERSION.replace('8.4.11', '9.1.4')], 'only 8.4, which kernels have, is supported'],
])('where DRBD %s, no disk is assembled', async (_what, kernel, text) => {
  await expect(onDrbdNode({ kernel, programs: ACTIVATED }, assemble)).rejects.toThrow(text)
})

test('where its tools are missing, the package is told', async () => {
  const programs = [...ACTIVATED, notInstalled('drbdsetup new-resource resource0')]
  await expect(onDrbdNode({ kernel: [VERSION], programs }, assemble)).rejects.toThrow(
    'The program drbdsetup cannot be started on node node1.gnt.example: install the Debian package drbd-utils there',
  )
})

const ok = { is_degraded: false, ldisk_status: 1 }
test.each<[string, string, object]>([
  ['in sync', kernelSays('Connected'), ok],
  ['alone', kernelSays('WFConnection', 'UpToDate/DUnknown'), { is_degraded: true, ldisk_status: 1 }],
  ['apart', kernelSays('StandAlone', 'UpToDate/DUnknown'), { is_degraded: true, ldisk_status: 1 }],
  ['without data', kernelSays('Connected', 'Diskless/UpToDate'), { is_degraded: true, ldisk_status: 4 }],
  ['stale', kernelSays('WFConnection', 'Outdated/DUnknown'), { is_degraded: true, ldisk_status: 3 }],
  ['half', kernelSays('Connected', 'Inconsistent/UpToDate'), { is_degraded: true, ldisk_status: 3 }],
  [
    'on its way',
    kernelSays(
      'SyncTarget',
      'Inconsistent/UpToDate',
      'Secondary/Primary',
      "  sync'ed:  4.1% (1/2)K\n  finish: 0:02:01 speed: 1 (1) K/sec",
    ),
    { sync_percent: 4.1, estimated_time: 121, is_degraded: true, ldisk_status: 2 },
  ],
  [
    'giving',
    kernelSays(
      'SyncSource',
      'UpToDate/Inconsistent',
      'Primary/Secondary',
      "  sync'ed: 22.3% (1/2)K\n  finish: 0:00:25 speed: 1 (1) K/sec",
    ),
    { sync_percent: 22.3, estimated_time: 25, is_degraded: true, ldisk_status: 1 },
  ],
])('a disk that is %s tells so', async (_what, kernel, health) => {
  const programs = [LVS, SHOWN]
  const { result } = await onDrbdNode({ kernel: [kernel], programs }, (context) =>
    new Disks(context).status(drbdDisk(), { combined: true }),
  )
  expect(result).toEqual({ dev_path: '/dev/drbd0', major: 147, minor: 0, ...health })
})

test('a disk is no better than its parts', async () => {
  const broken = { argv: LVS.argv, stdout: LVS.stdout.replaceAll('-wi-ao----', 'vwi-ao----') }
  const { result } = await onDrbdNode({ kernel: [kernelSays('Connected')], programs: [broken, SHOWN] }, (context) =>
    new Disks(context).status(drbdDisk(), { combined: true }),
  )
  expect(result).toMatchObject({ is_degraded: true, ldisk_status: 4 })
})

test('a device that is only looked at is let go a moment later', async () => {
  const held = (argv: string) => failing(argv, 11, '0: State change failed: (-12) Device is held open by someone\n')
  const letGo = async (argv: string, work: (disks: Disks) => Promise<unknown>) => {
    const programs = [SHOWN, held(argv), held(argv), does(argv)]
    await onDrbdNode({ kernel: [kernelSays('Connected')], programs }, (context) => work(new Disks(context)))
  }
  await letGo('drbdsetup secondary 0', (disks) => disks.close(drbdDisk()))
  await letGo('drbdsetup down resource0', (disks) => disks.shutdown(drbdDisk()))
})

test.each([
  // For some seconds.
  ['(-2) Need access to UpToDate data', 'use the other node, or wait until the disk is in sync', 12],
  [
    '(-1) Multiple primaries not allowed by config',
    'the other node has it open for writing, and must close it first',
    1,
  ],
])('a disk that cannot be written tells why: %s', async (words, text, length) => {
  const refused = failing('drbdsetup primary 0', 17, `0: State change failed: ${words}\n`)
  const node = { kernel: [kernelSays('Connected')], programs: [SHOWN, ...Array.from({ length }, () => refused)] }
  await expect(onDrbdNode(node, (context) => new Disks(context).open(drbdDisk(), true))).rejects.toThrow(text)
})

test('one without data of its own may be written as soon as its other node is found', async () => {
  const refused = failing('drbdsetup primary 0', 17, '0: State change failed: (-2) Need access to UpToDate data\n')
  const programs = [SHOWN, refused, refused, does('drbdsetup primary 0')]
  await onDrbdNode({ kernel: [kernelSays('Connected')], programs }, (context) =>
    new Disks(context).open(drbdDisk(), true),
  )
})

describe('growing', () => {
  const kernel = [kernelSays('Connected')]
  const grow = (size_mib: number | readonly number[], programs: RecordedProgram[], amount = 64) =>
    onDrbdNode({ kernel, size_mib, programs: [SHOWN, ...programs] }, (context) =>
      new Disks(context).grow(drbdDisk(), amount, { backing: false }),
    )

  test('tells DRBD the size that the disk is to have', async () => {
    await grow([192, 256], [size(DATA, 256), does('drbdsetup resize 0 --size 256m')])
  })

  test('ends when the other node has agreed', async () => {
    const programs = [size(DATA, 256), does('drbdsetup resize 0 --size 256m')]
    await grow([192, 192, 192, 256], programs)
    await expect(grow(192, programs)).rejects.toThrow(
      'has 192 instead of 256 MiB on node node1.gnt.example: its other node has not agreed to the new size',
    )
  })

  test('that was done before is done', async () => {
    await grow(256, [size(DATA, 256)])
  })

  test('never cuts off what was grown before the configuration knew', async () => {
    await expect(grow(320, [])).rejects.toThrow(
      'has 320 MiB on node node1.gnt.example already, and growing it to 256 MiB would cut its end off: gnt-cluster repair-disk-sizes',
    )
    await expect(grow(192, [], -1)).rejects.toThrow('Cannot shrink disk')
  })

  test('follows that of the volume', async () => {
    await expect(grow(192, [size(DATA, 192)])).rejects.toThrow('it has to grow first')
  })

  test('of a disk without data is refused', async () => {
    const node = { kernel: [recorded('proc-diskless.txt')], programs: [show(recorded('show-diskless.txt'))] }
    await expect(
      onDrbdNode(node, (context) => new Disks(context).grow(drbdDisk(), 64, { backing: false })),
    ).rejects.toThrow('has no data on node node1.gnt.example, and cannot grow')
  })
})

test('removing ends the disk, then its volumes; where DRBD is gone, the volumes go', async () => {
  const volumes = CHILDREN.map(({ logical_id }) => does(`lvremove -f ${logical_id?.join('/')}`))
  const programs = [SHOWN, DOWN, LVS, volumes[0], LVS, volumes[1]].flatMap((one) => one ?? [])
  const { asked: requested } = await onDrbdNode({ kernel: [kernelSays('Connected')], programs }, (context) =>
    new Disks(context).remove(drbdDisk()),
  )
  expect(requested).toEqual(lines(programs))
  await onDrbdNode({ programs: [LVS, ...volumes, LVS] }, (context) => new Disks(context).remove(drbdDisk()))
})

test('the size is told by the kernel, also on a node that may not read the disk', async () => {
  const sizes = (size_mib?: number) =>
    onDrbdNode(
      { kernel: [kernelSays('Connected')], programs: [SHOWN], ...(size_mib !== undefined && { size_mib }) },
      (context) => new Disks(context).dimensions(drbdDisk()),
    )
  await expect(sizes(192)).resolves.toMatchObject({ result: { size_bytes: 192 << 20, spindles: null } })
  await expect(sizes()).rejects.toThrow('The size of /dev/drbd0 on node node1.gnt.example is not known')
})

test('a snapshot is one of the data', async () => {
  const name = '55e04c36-651d-49a5-9f42-a46dd12e9286.disk0_data.snap'
  const vgs = 'vgs --noheadings --units=m --nosuffix --separator=| -ovg_name,vg_size,vg_free'
  const programs = [
    LVS,
    { argv: vgs, stdout: '  xenvg|24572.00|24156.00\n' },
    does(`lvcreate -L192m -s -n${name} ${DATA}`),
  ]
  const { result } = await onDrbdNode({ kernel: [VERSION], programs }, (context) =>
    new Disks(context).snapshot(drbdDisk(), null, null),
  )
  expect(result).toEqual(['xenvg', name])
})
