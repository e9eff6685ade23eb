// Reads LVM's reports, and runs the commands that change it. The answers of the programs are those of a node with LVM 2.03.
import { systemClock } from '../../../../../src/lib/clock'
import { pathsOf } from '../../../../../src/lib/paths'
import { systemDisk } from '../../../../../src/lib/disk'
import { systemFiles } from '../../../../../src/lib/files'
import { groupSpace, spindleSpace } from '../../../../../src/node/storage/lvm/space'
import {
  logicalVolumes,
  modifyStorageUnit,
  physicalVolumes,
  repairStorageUnit,
  volumeGroups,
} from '../../../../../src/node/storage/lvm/units'
import { reportsOf } from '../../../../../src/node/storage/volume-reports'
import { notInstalled, recordedPrograms, type RecordedProgram } from '../../../../support/recorded-programs'

const REPORT = '--noheadings --units=m --nosuffix --separator=|'
const VGS = `vgs ${REPORT} -ovg_name,vg_size,vg_free`
const PVS = `pvs ${REPORT} -opv_name,vg_name,pv_size,pv_free,pv_attr`
const LVS = `lvs ${REPORT} -ovg_name,lv_name,lv_size,lv_attr,devices`

const DATA = '55e04c36-651d-49a5-9f42-a46dd12e9286.disk0_data'
const PLAIN = '14632bfe-d0f2-4e65-969d-e5a4a0153e36.disk1'

const run = (...recordings: RecordedProgram[]) => recordedPrograms(recordings).run
const reports = (...recordings: RecordedProgram[]) => reportsOf({ ...clusterless, run: run(...recordings) })
const clusterless = {
  disk: systemDisk,
  files: systemFiles,
  hostname: 'node1',
  paths: pathsOf('', 'node1'),
  clock: systemClock,
}

test('a volume group has a size and what is free of it', async () => {
  const groups = volumeGroups(run({ argv: VGS, stdout: '  xenvg|24572.00|24156.00\n' }))
  await expect(groups).resolves.toEqual([{ name: 'xenvg', size_mib: 24572, free_mib: 24156 }])
})

test('an ordinary user has no volume groups, as LVM answers only to root', async () => {
  const stderr =
    '  WARNING: Running as a non-root user. Functionality may be unavailable.\n  P_global:aux: open failed\n'
  await expect(volumeGroups(run({ argv: VGS, code: 5, stderr }))).resolves.toEqual([])
  await expect(volumeGroups(run({ argv: VGS, code: 5, stderr: 'broken\n' }))).rejects.toThrow('vgs failed: broken')
})

test('a physical volume is told with its group, and whether LVM may use it', async () => {
  const stdout =
    '  /dev/vdb|xenvg|24572.00|24508.00|a--\n  /dev/vdc|xenvg|1020.00|1020.00|u--\n  /dev/vdd||2048.00|2048.00|---\n'
  await expect(physicalVolumes(run({ argv: PVS, stdout }))).resolves.toEqual([
    { name: '/dev/vdb', vg: 'xenvg', size_mib: 24572, free_mib: 24508, attributes: 'a--', allocatable: true },
    { name: '/dev/vdc', vg: 'xenvg', size_mib: 1020, free_mib: 1020, attributes: 'u--', allocatable: false },
    { name: '/dev/vdd', vg: '', size_mib: 2048, free_mib: 2048, attributes: '---', allocatable: false },
  ])
})

test('a logical volume is told with the places of its extents, of one group or of all', async () => {
  const lines = [
    `  xenvg|${PLAIN}|32.00|-wi-a-----|/dev/vdb(16)`,
    `  xenvg|${DATA}|192.00|-wi-ao----|/dev/vdb(24),/dev/vdc(0)`,
  ]
  const stdout = `${lines.join('\n')}\n`
  const volumes = [
    { vg: 'xenvg', name: PLAIN, size: '32.00', attributes: '-wi-a-----', devices: ['/dev/vdb(16)'] },
    { vg: 'xenvg', name: DATA, size: '192.00', attributes: '-wi-ao----', devices: ['/dev/vdb(24)', '/dev/vdc(0)'] },
  ]
  await expect(logicalVolumes(run({ argv: LVS, stdout }))).resolves.toEqual(volumes)
  await expect(logicalVolumes(run({ argv: `${LVS} -- xenvg`, stdout }), ['xenvg'])).resolves.toEqual(volumes)
})

test('a node with LVM and without volumes has none, as one without LVM; but a group that is asked for must be there', async () => {
  await expect(volumeGroups(run({ argv: VGS }))).resolves.toEqual([])
  await expect(volumeGroups(run(notInstalled(VGS)))).resolves.toEqual([])
  await expect(physicalVolumes(run(notInstalled(PVS)))).resolves.toEqual([])
  await expect(logicalVolumes(run(notInstalled(LVS)))).resolves.toEqual([])
  await expect(logicalVolumes(run(notInstalled(`${LVS} -- xenvg`)), ['xenvg'])).rejects.toThrow(
    "Failed to list volumes of 'xenvg': the program lvs is not installed on this node",
  )
  const stderr = '  Volume group "none" not found\n  Cannot process volume group none\n'
  await expect(logicalVolumes(run({ argv: `${LVS} -- none`, code: 5, stderr }), ['none'])).rejects.toThrow(
    'lvs failed: Volume group "none" not found\n  Cannot process volume group none',
  )
})

test('a physical volume is closed for LVM and opened again; nothing else can be changed, and of other units nothing', async () => {
  const changed = '  Physical volume "/dev/vdb" changed\n  1 physical volume changed / 0 physical volumes not changed\n'
  const programs = recordedPrograms([
    { argv: 'pvchange --allocatable n -- /dev/vdb', stdout: changed },
    { argv: 'pvchange --allocatable y -- /dev/vdb', stdout: changed },
    {
      argv: 'pvchange --allocatable y -- /dev/none',
      code: 5,
      stderr: '  Failed to find physical volume "/dev/none".\n',
    },
  ])
  await modifyStorageUnit(programs.run, 'lvm-pv', '/dev/vdb', { allocatable: false })
  await modifyStorageUnit(programs.run, 'lvm-pv', '/dev/vdb', { allocatable: true })
  await expect(modifyStorageUnit(programs.run, 'lvm-pv', '/dev/none', { allocatable: true })).rejects.toThrow(
    'Failed to modify physical volume, pvchange output: Failed to find physical volume "/dev/none".',
  )
  expect(programs.left()).toEqual([])
  await modifyStorageUnit(programs.run, 'lvm-vg', 'xenvg', {})
  await expect(modifyStorageUnit(programs.run, 'lvm-vg', 'xenvg', { allocatable: true })).rejects.toThrow(
    "Storage units of type 'lvm-vg' have nothing to modify in: allocatable",
  )
  await expect(modifyStorageUnit(programs.run, 'lvm-pv', '/dev/vdb', { size: 1 })).rejects.toThrow('modify in: size')
})

test('missing volumes are taken out of a group; whether that worked is asked, as vgreduce does not tell', async () => {
  const reduce = { argv: 'vgreduce --removemissing -- xenvg', stdout: '  Wrote out consistent volume group xenvg.\n' }
  const count = (stdout: string) => ({ argv: `vgs ${REPORT} -ovg_missing_pv_count -- xenvg`, stdout })
  await repairStorageUnit(run({ ...reduce, code: 5 }, count('  0\n')), 'lvm-vg', 'xenvg', 'fix-consistency')
  const fails = (volumes: string) => {
    const programs = run(reduce, count('  1\n'), { argv: `${LVS} -- xenvg`, stdout: volumes })
    return expect(repairStorageUnit(programs, 'lvm-vg', 'xenvg', 'fix-consistency')).rejects
  }
  await fails(`  xenvg|${PLAIN}|32.00|-wi-a-----|/dev/vdb(16)\n`).toThrow(
    "Volume group 'xenvg' still has missing physical volumes: 'pvs' on this node shows them as unknown; bring their devices back, then try again",
  )
  await fails(
    `  xenvg|${PLAIN}|32.00|-wi-a-----|/dev/vdb(16)\n  xenvg|${DATA}|64.00|-wi-----p-|[unknown](0)\n`,
  ).toThrow(
    `because parts of xenvg/${DATA} were on them: 'vgreduce --removemissing --force xenvg' on this node gives these volumes up; then ` +
      "'gnt-instance replace-disks' makes",
  )
  await expect(repairStorageUnit(run(), 'lvm-pv', '/dev/vdb', 'fix-consistency')).rejects.toThrow(
    "Storage units of type 'lvm-pv' do not know the operation 'fix-consistency'",
  )
})

describe('room', () => {
  const group = { argv: VGS, stdout: '  xenvg|3060.00|2539.00\n' }
  const lines = ['b|1020.00|1020.00|a--', 'c|1020.00|500.00|a--', 'd|1020.00|1019.00|a--', 'e|1020.00|1020.00|u--']
  const volumes = { argv: PVS, stdout: lines.map((one) => `  /dev/vd${one.replace('|', '|xenvg|')}\n`).join('') }

  test('is what is free of a group, in whole MiB', async () => {
    const space = { type: 'lvm-vg', name: 'xenvg', storage_free: 2539, storage_size: 3060 }
    await expect(groupSpace(reports(group), 'xenvg', false)).resolves.toEqual(space)
  })

  test('is what empty physical volumes have that may be used, where they are given away as a whole', async () => {
    await expect(groupSpace(reports(group, volumes), 'xenvg', true)).resolves.toMatchObject({ storage_free: 2 * 990 })
    const spindles = { type: 'lvm-pv', name: 'xenvg', storage_free: 2, storage_size: 3 }
    await expect(spindleSpace(reports(volumes), 'xenvg', true)).resolves.toEqual(spindles)
    await expect(groupSpace(reports(group, { argv: PVS }), 'xenvg', true)).resolves.toMatchObject({ storage_free: 0 })
  })

  test('is not counted in physical volumes elsewhere', async () => {
    await expect(spindleSpace(reports(), 'xenvg', false)).resolves.toMatchObject({ storage_free: 0, storage_size: 0 })
  })

  test('of a group that is not there is not known', async () => {
    const unknown = { type: 'lvm-vg', name: 'none', storage_free: null, storage_size: null }
    await expect(groupSpace(reports(group), 'none', false)).resolves.toEqual(unknown)
  })
})
