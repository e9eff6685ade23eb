// The commands that disks on LVM give, and what is made of the answers. These are those of a Ganeti node with LVM 2.03.
import { KEEP_UNTIL_UNKNOWN } from '../../../../../src/model/leftovers'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { type Files, systemFiles } from '../../../../../src/lib/files'
import { Disks } from '../../../../../src/node/storage/disks'
import type { DiskDict } from '../../../../../src/rpc/node/dicts'
import { clockAt } from '../../../../support/instant-clock'
import { testNode } from '../../../../support/node-context'
import { notInstalled, recordedPrograms, type RecordedProgram } from '../../../../support/recorded-programs'
import { root } from '../../../../support/source-tree'

const LVS =
  'lvs --noheadings --separator=| --units=b --nosuffix -ovg_name,lv_name,lv_size,lv_attr,lv_kernel_major,lv_kernel_minor,' +
  'vg_extent_size,stripes,devices,lv_tags'
const PVS = 'pvs --noheadings --units=m --nosuffix --separator=| -opv_name,vg_name,pv_size,pv_free,pv_attr'
const VGS = 'vgs --noheadings --units=m --nosuffix --separator=| -ovg_name,vg_size,vg_free'
const ROOM = { argv: PVS, stdout: '  /dev/vdb|xenvg|24572.00|24156.00|a--\n' }
const OWNER = 'originstname+inst1.gnt.example'
const NAME = '2feb2fe3-5368-4b72-8b6a-7670e0de9d5c.disk0'
const PLACE = `/dev/xenvg/${NAME}`

const recorded = (name: string) => fs.readFileSync(path.join(root, 'test/golden/storage', name), 'utf8')
const listed = { argv: LVS, stdout: recorded('lvs-tags.txt') }
const empty = { argv: LVS }

const plain = (name = NAME, more: Partial<DiskDict> = {}): DiskDict => {
  return { uuid: 'u', dev_type: 'plain', logical_id: ['xenvg', name], size: 64, iv_name: 'disk/0', ...more }
}

/** All programs are to be asked, and no others. */
async function on<T>(
  programs: readonly RecordedProgram[],
  work: (disks: Disks) => Promise<T>,
  files: Files = systemFiles,
): Promise<T> {
  const { run, left } = recordedPrograms(programs)
  const node = testNode('node1.gnt.example', { run, files, clock: clockAt(0) })
  try {
    return await work(new Disks(node.context))
  } finally {
    node.remove()
    expect(left()).toEqual([])
  }
}

const MADE = { argv: `lvcreate -Wn -L64m -n${NAME} -i1 --addtag ${OWNER} xenvg` }
const EXISTS = { ...MADE, code: 5, stderr: `  Logical Volume "${NAME}" already exists in volume group "xenvg"\n` }
const refusedFor = (stderr: string) => ({ argv: `lvcreate -Wn -L64m -n${NAME} -i1 xenvg`, code: 5, stderr })
const FULL = '  Insufficient free space: 16 extents needed\n'
const WAY_OF_LOST =
  "a physical volume of group 'xenvg' is missing: put its disk back, or take it out of the group with " +
  "'gnt-node repair-storage node1.gnt.example lvm-vg xenvg'"
const options = { onPrimary: true, info: OWNER, exclusive: false }
const line = (attributes = '-wi-a-----', tags = '') =>
  `  xenvg|${NAME}|67108864|${attributes}|253|0|4194304|1|/dev/vdb(0)|${tags}\n`
const made = { argv: LVS, stdout: line() }

test('a volume is made with one program, active, and noted as of its instance', async () => {
  await expect(on([MADE], (disks) => disks.createAndUse(plain(), 64, options))).resolves.toEqual({
    id: ['xenvg', NAME],
    device: { path: PLACE, block: true },
  })
})

test('a volume is activated once in a call', async () => {
  await on([{ argv: `lvchange -ay ${PLACE}` }], async (disks) => {
    await disks.assemble(plain())
    await disks.assemble(plain())
  })
})

test('an active volume is not activated again, but a path that leads to another volume is not believed', async () => {
  const path253_7 = { isBlockDevice: () => true, rdev: (253 << 8) | 7 }
  const mapped = (name: string): Files =>
    Object.assign({}, systemFiles, {
      stat: (file: string) => (file === PLACE ? Promise.resolve(path253_7) : systemFiles.stat(file)),
      readFile: (file: string) => Promise.resolve(file === '/sys/dev/block/253:7/dm/name' ? `${name}\n` : ''),
    })
  const assemble = (disks: Disks) => disks.assemble(plain())
  await on([], assemble, mapped(`xenvg-${NAME.replaceAll('-', '--')}`))
  await on([{ argv: `lvchange -ay ${PLACE}` }], assemble, mapped('xenvg-other.disk0'))
})

test('a volume that exists is never made again, nor removed because of that', async () => {
  await expect(on([EXISTS, listed], (disks) => disks.createAndUse(plain(), 64, options))).rejects.toThrow(
    `Logical volume 'xenvg/${NAME}' exists already on node node1.gnt.example: ${KEEP_UNTIL_UNKNOWN}`,
  )
  // Somebody has removed it meanwhile.
  await expect(on([EXISTS, empty, ROOM], (disks) => disks.createAndUse(plain(), 64, options))).rejects.toThrow(
    'already exists in',
  )
})

test.each<[string, RecordedProgram[], string]>([
  [
    'missing',
    [refusedFor('  Volume group "xenvg" not found\n'), { argv: PVS }],
    "There is no volume group 'xenvg' on node node1.gnt.example: make it with vgcreate",
  ],
  [
    'full',
    [refusedFor(FULL), { argv: PVS, stdout: '  /dev/vdb|xenvg|24572.00|60.00|a--\n' }],
    "'xenvg' on node node1.gnt.example is too full for 64 MiB, it has 60 MiB left: remove what is not needed",
  ],
  [
    'closed',
    [refusedFor('  No allocatable extents\n'), { argv: PVS, stdout: '  /dev/vdb|xenvg|24572.00|24572.00|u--\n' }],
    'pvchange --allocatable y allows it',
  ],
  [
    'incomplete',
    [
      refusedFor('  Cannot change VG xenvg while PVs are missing.\n'),
      { argv: PVS, stdout: '  /dev/vdb|xenvg|24572.00|24572.00|a--\n  [unknown]|xenvg|1020.00|1020.00|a-m\n' },
    ],
    `No volume can be made on node node1.gnt.example: ${WAY_OF_LOST}`,
  ],
  [
    'full, although it looks otherwise a moment later',
    [refusedFor(FULL), ROOM],
    `Cannot create logical volume 'xenvg/${NAME}' on node node1.gnt.example: Insufficient free space: 16 extents needed; remove what`,
  ],
])('in a group that is %s no volume is made, and the way out is told', async (_what, programs, text) => {
  await expect(on(programs, (disks) => disks.create(plain(), 64))).rejects.toThrow(text)
})

test('where LVM is missing, the package is told', async () => {
  await expect(
    on([notInstalled(`lvcreate -Wn -L64m -n${NAME} -i1 xenvg`)], (disks) => disks.create(plain(), 64)),
  ).rejects.toThrow(
    'The program lvcreate cannot be started on node node1.gnt.example: install the Debian package lvm2 there',
  )
})

test('a volume gets as many stripes as there are physical volumes, and fewer where the room is spread unevenly', async () => {
  const two = { argv: PVS, stdout: '  /dev/vdb|xenvg|1020.00|40.00|a--\n  /dev/vdc|xenvg|1020.00|900.00|a--\n' }
  const uneven = {
    argv: `lvcreate -Wn -L64m -n${NAME} -i2 xenvg /dev/vdc /dev/vdb`,
    code: 5,
    stderr: '  Insufficient suitable allocatable extents for logical volume\n',
  }
  const one = { argv: `lvcreate -Wn -L64m -n${NAME} -i1 xenvg /dev/vdc /dev/vdb` }
  await on([empty, two, uneven, one], (disks) => disks.create(plain(NAME, { params: { stripes: 3 } }), 64))
  const sized = { argv: `lvcreate -Wn -L64m -n${NAME} -i2 -I64k xenvg /dev/vdc /dev/vdb` }
  const params = { stripes: 2, 'stripe-size': 64 }
  await on([empty, two, sized], (disks) => disks.create(plain(NAME, { params }), 64))
  const odd = { argv: PVS, stdout: '  /dev/a:b|xenvg|24572.00|24572.00|a--\n' }
  const striped = plain(NAME, { params: { stripes: 2 } })
  await expect(on([empty, odd], (disks) => disks.create(striped, 64))).rejects.toThrow("has a ':' in its name")
  const wrong = plain(NAME, { params: { stripes: 'many' } })
  await expect(on([], (disks) => disks.create(wrong, 64))).rejects.toThrow('stripes is a number from 1 on')
})

describe('where physical volumes are given away as a whole', () => {
  const pvs = ['b|1020.00|1020.00', 'c|1020.00|500.00', 'd|1020.00|1019.00'].map((one) => {
    const [letter = '', size = '', free = ''] = one.split('|')
    return `  /dev/vd${letter}|xenvg|${size}|${free}|a--\n`
  })
  const three = { argv: PVS, stdout: pvs.join('') }
  const exclusive = { exclusive: true }

  test('a disk is spread over as many empty ones as it has spindles', async () => {
    const command = { argv: `lvcreate -Wn -L1500m -n${NAME} -i2 xenvg /dev/vdb /dev/vdd` }
    await on([empty, three, command], (disks) => disks.create(plain(NAME, { spindles: 2 }), 1500, exclusive))
  })

  test.each([
    [2500, 3, 'has 2 empty physical volumes, and 3 are needed'],
    [1500, 1, 'needs at least 2 spindles, not 1'],
    [64, undefined, 'gnt-cluster repair-disk-sizes records it'],
  ])('a disk of %d MiB with %s spindles is refused', async (size, spindles, text) => {
    const disk = plain(NAME, spindles === undefined ? {} : { spindles })
    await expect(on([empty, three], (disks) => disks.create(disk, size, exclusive))).rejects.toThrow(text)
  })

  test('a volume grows on its own ones only', async () => {
    const own = { argv: `lvextend -L +32768k --alloc contiguous ${PLACE} /dev/vdb` }
    await on([made, ROOM, own], (disks) => disks.grow(plain(), 32, exclusive))
    const few = { argv: PVS, stdout: '  /dev/vdb|xenvg|1020.00|50.00|a--\n' }
    await expect(on([made, few], (disks) => disks.grow(plain(), 32, exclusive))).rejects.toThrow(
      `The physical volumes of ${PLACE} on node node1.gnt.example have 20 MiB left, and 32 are needed`,
    )
  })
})

test('all volumes of a call are found in one report', async () => {
  const names = [NAME, '14632bfe-d0f2-4e65-969d-e5a4a0153e36.disk1', 'none.disk2']
  await on([listed], async (disks) => {
    const states = await Promise.all(names.map((name) => disks.status(plain(name), { combined: true })))
    expect(states).toEqual([
      { dev_path: PLACE, major: 253, minor: 0, is_degraded: false, ldisk_status: 1 },
      { dev_path: `/dev/xenvg/${names[1]}`, major: 253, minor: 1, is_degraded: false, ldisk_status: 1 },
      undefined,
    ])
    await expect(disks.dimensions(plain())).resolves.toEqual({ size_bytes: 67108864, spindles: 1 })
  })
})

test('a snapshot that has run full is faulty, also while it is suspended; others are not', async () => {
  const faulty = { is_degraded: true, ldisk_status: 4 }
  const status = (attributes: string) => on([{ argv: LVS, stdout: line(attributes) }], (disks) => disks.status(plain()))
  for (const attributes of ['swi-I-s---', 'swi-S-s---', 'Swi-I-s---'])
    await expect(status(attributes)).resolves.toMatchObject(faulty)
  for (const attributes of ['swi-a-s---', 'swi-s-s---', 'owi-aos---', 'swi---s---'])
    await expect(status(attributes)).resolves.toMatchObject({ is_degraded: false, ldisk_status: 1 })
})

test('a volume whose physical volume is gone is faulty; an inactive one has no numbers', async () => {
  const faulty = { is_degraded: true, ldisk_status: 4 }
  for (const attributes of ['vwi-a-----', '-wi-a---p-'])
    await expect(
      on([{ argv: LVS, stdout: line(attributes) }], (disks) => disks.status(plain())),
    ).resolves.toMatchObject(faulty)
  const inactive = `  xenvg|${NAME}|67108864|-wi-------|-1|-1|4194304|1|/dev/vdb(0)|\n`
  const status = on([{ argv: LVS, stdout: inactive }], (disks) => disks.status(plain()))
  await expect(status).resolves.toEqual({ dev_path: PLACE, is_degraded: false, ldisk_status: 1 })
})

test('a volume that is lost cannot be activated', async () => {
  const lost = '1c52be80-2609-4270-92f8-bef1f23428cf.disk0_data'
  const stderr = `  Failed to find logical volume "xenvg/${lost}"\n`
  const programs = [{ argv: `lvchange -ay /dev/xenvg/${lost}`, code: 5, stderr }]
  await expect(on(programs, (disks) => disks.assemble(plain(lost)))).rejects.toThrow(
    `Cannot activate logical volume 'xenvg/${lost}' on node node1.gnt.example: Failed to find logical volume "xenvg/${lost}"`,
  )
})

test('where a physical volume is missing, nothing changes, and the way out is told', async () => {
  const refused = (argv: string, stderr: string) => ({ argv, code: 5, stderr })
  const partial = refused(`lvchange -ay ${PLACE}`, `  Refusing activation of partial LV xenvg/${NAME}.\n`)
  await expect(on([partial], (disks) => disks.assemble(plain()))).rejects.toThrow(
    `Cannot activate logical volume 'xenvg/${NAME}' on node node1.gnt.example: Refusing activation of partial LV xenvg/${NAME}.; ${WAY_OF_LOST}`,
  )
  const removal = refused(`lvremove -f xenvg/${NAME}`, '  Cannot change VG xenvg while PVs are missing.\n')
  await expect(on([made, removal], (disks) => disks.remove(plain()))).rejects.toThrow(
    `Cannot remove logical volume 'xenvg/${NAME}' on node node1.gnt.example: Cannot change VG xenvg while PVs are missing.; ${WAY_OF_LOST}`,
  )
  const growth = ['contiguous', 'cling', 'normal'].map((one) =>
    refused(`lvextend -L +32768k --alloc ${one} ${PLACE}`, '  Cannot change VG xenvg while PVs are missing.\n'),
  )
  await expect(on([made, ...growth], (disks) => disks.grow(plain(), 32, {}))).rejects.toThrow(WAY_OF_LOST)
})

test('a volume grows by whole stripes, close to where it is, or elsewhere', async () => {
  const stderr = `  Insufficient suitable contiguous allocatable extents for logical volume ${NAME}: 8 more required\n`
  const programs = [
    made,
    { argv: `lvextend -L +32768k --test --alloc contiguous ${PLACE}`, code: 5, stderr },
    { argv: `lvextend -L +32768k --test --alloc cling ${PLACE}` },
  ]
  await on(programs, (disks) => disks.grow(plain(), 30, { dryRun: true }))
  const striped = { argv: LVS, stdout: `  xenvg|${NAME}|67108864|-wi-a-----|253|0|4194304|3|/dev/vdb(0)|\n` }
  const whole = { argv: `lvextend -L +36864k --alloc contiguous ${PLACE}` }
  await on([striped, whole], (disks) => disks.grow(plain(), 30, {}))
  await on([made], (disks) => disks.grow(plain(), 30, { backing: false }))
})

test('what does not grow in any way tells why, and what to do', async () => {
  const stderr = '  Insufficient free space: 8 extents needed, but only 4 available\n'
  const policies = ['contiguous', 'cling', 'normal']
  const programs = policies.map((one) => ({ argv: `lvextend -L +32768k --alloc ${one} ${PLACE}`, code: 5, stderr }))
  await expect(on([made, ...programs], (disks) => disks.grow(plain(), 32, {}))).rejects.toThrow(
    `Cannot grow ${PLACE} on node node1.gnt.example by 32 MiB: Insufficient free space: 8 extents needed, but only 4 available; remove`,
  )
})

test('a volume that somebody looks at is removed a moment later, one that is used is not', async () => {
  const argv = `lvremove -f xenvg/${NAME}`
  const held = { argv, code: 5, stderr: `  Logical volume xenvg/${NAME} in use.\n` }
  await on([made, held, held, { argv }], (disks) => disks.remove(plain()))
  await on([empty], (disks) => disks.remove(plain()))
})

test('a volume gets another name in its group only, and never that of another', async () => {
  const renamed = { argv: `lvrename xenvg ${NAME} ${NAME}_data` }
  await on([made, renamed], (disks) => disks.rename([[plain(), ['xenvg', `${NAME}_data`]]]))
  await expect(on([made], (disks) => disks.rename([[plain(), ['other', 'x']]]))).rejects.toThrow(
    "another group, 'other'",
  )
})

test('volumes that an instance adopts get their old names back where one of them cannot be had', async () => {
  const [first, second] = [plain('theirs-a'), plain('theirs-b')]
  const theirs = { argv: LVS, stdout: line().replace(NAME, 'theirs-a') }
  const adopted = { argv: LVS, stdout: line().replace(NAME, 'new-a') }
  const there = { argv: 'lvrename xenvg theirs-a new-a' }
  const back = { argv: 'lvrename xenvg new-a theirs-a' }
  const renames = [
    [first, ['xenvg', 'new-a']],
    [second, ['xenvg', 'new-b']],
  ] as const
  await expect(on([theirs, there, adopted, back], (disks) => disks.rename(renames))).rejects.toThrow(
    "Can't find device disk/0 (plain xenvg theirs-b) on node node1.gnt.example",
  )
})

test("a volume's owner is noted in a tag, in place of the one before; other tags stay", async () => {
  const tagged = { argv: LVS, stdout: line('-wi-a-----', 'originstname+old.example,backup') }
  const change = { argv: `lvchange --deltag originstname+old.example --addtag ${OWNER} ${PLACE}` }
  await on([tagged, change], (disks) => disks.setInfo(plain(), OWNER))
  await on([listed], (disks) => disks.setInfo(plain(), OWNER))
  const odd = { argv: `lvchange --addtag _a_b_${'c'.repeat(123)} ${PLACE}` }
  await on([made, odd], (disks) => disks.setInfo(plain(), `-a b/${'c'.repeat(200)}`))
})

test('a snapshot is as large as its volume, and takes the place of one that was left', async () => {
  const [size, name] = ['  xenvg|24572.00|24156.00\n', `${NAME}.snap`]
  const command = { argv: `lvcreate -L64m -s -n${name} ${PLACE}` }
  const programs = [made, { argv: VGS, stdout: size }, command]
  await expect(on(programs, (disks) => disks.snapshot(plain(), null, null))).resolves.toEqual(['xenvg', name])
  const old = { argv: LVS, stdout: line() + line().replace(NAME, name) }
  await on([old, { argv: `lvremove -f xenvg/${name}` }, made, { argv: VGS, stdout: size }, command], (disks) =>
    disks.snapshot(plain(), null, null),
  )
  await expect(on([old], (disks) => disks.snapshot(plain(), name, null))).rejects.toThrow('exists already')
  const full = { argv: VGS, stdout: '  xenvg|24572.00|10.00\n' }
  await expect(on([made, full], (disks) => disks.snapshot(plain(), null, 32))).rejects.toThrow(
    "No room for a snapshot of 32 MiB: volume group 'xenvg' on node node1.gnt.example has 10 MiB left",
  )
})

test('a snapshot that a user names has room for a change of every block, unless he wants another size', async () => {
  const room = { argv: VGS, stdout: '  xenvg|24572.00|24156.00\n' }
  const named = (size: number) => ({ argv: `lvcreate -L${size}m -s -n${NAME}.before ${PLACE}` })
  await on([made, room, named(66)], (disks) => disks.snapshot(plain(), `${NAME}.before`, null))
  await on([made, room, named(4)], (disks) => disks.snapshot(plain(), `${NAME}.before`, 4))
})

test.each([['..'], ['-f'], ['a/b'], ['snapshot'], ['x_mlog'], ['']])('%p is no name for a volume', async (name) => {
  await expect(on([], (disks) => disks.find(plain(name)))).rejects.toThrow('is not a valid name of a volume')
  await expect(on([], (disks) => disks.find({ ...plain(), logical_id: ['xenvg'] }))).rejects.toThrow('[group, volume]')
})
