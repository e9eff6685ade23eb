// Reads LVM's reports about this node. A node without LVM has no volume groups.
import { NOT_STARTED, type Run } from '../../../lib/programs/run-command'
import { LVM_ONLY_ROOT } from '../../../model/constants/disks'
import { DEVICE_ANSWER_S, DEVICE_ORDER_S, STORAGE_REPORT_BYTES_MAX } from '../../../model/limits/storage'
import { fail } from '../../failure'

export interface VolumeGroup {
  name: string
  size_mib: number
  free_mib: number
}

export async function volumeGroups(run: Run): Promise<VolumeGroup[]> {
  const rows = await report(run, 'vgs', ['vg_name', 'vg_size', 'vg_free'])
  return rows.map(([name = '', size, free]) => ({ name, size_mib: Number(size), free_mib: Number(free) }))
}

export interface PhysicalVolume extends VolumeGroup {
  vg: string
  attributes: string
  allocatable: boolean
}

export async function physicalVolumes(run: Run): Promise<PhysicalVolume[]> {
  const rows = await report(run, 'pvs', ['pv_name', 'vg_name', 'pv_size', 'pv_free', 'pv_attr'])
  return rows.map(([name = '', vg = '', size, free, attributes = '']) => {
    return {
      name,
      vg,
      size_mib: Number(size),
      free_mib: Number(free),
      attributes,
      allocatable: attributes.startsWith('a'),
    }
  })
}

export interface LogicalVolume {
  vg: string
  name: string
  /** MiB as LVM prints it, such as `128.00`. */
  size: string
  attributes: string
  /** The first extent on each physical volume, such as `/dev/sda1(0)`. */
  devices: string[]
}

/** The volumes of the given groups, or of all. */
export async function logicalVolumes(run: Run, groups: readonly string[] = []): Promise<LogicalVolume[]> {
  const rows = await report(run, 'lvs', ['vg_name', 'lv_name', 'lv_size', 'lv_attr', 'devices'], groups)
  return rows.map(([group = '', name = '', size = '', attributes = '', devices = '']) => {
    return { vg: group, name, size, attributes, devices: devices.split(',') }
  })
}

/** Changes a storage unit. Only physical volumes can be changed: whether LVM may allocate space on them. */
export async function modifyStorageUnit(
  run: Run,
  type: string,
  name: string,
  changes: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { allocatable, ...others } = changes
  const fixed = type === 'lvm-pv' ? Object.keys(others) : Object.keys(changes)
  if (fixed.length > 0) fail(`Storage units of type '${type}' have nothing to modify in: ${fixed.join(', ')}`)
  if (allocatable === undefined) return
  const { code, output } = await run(['pvchange', '--allocatable', allocatable === true ? 'y' : 'n', '--', name], {
    timeout_s: DEVICE_ORDER_S,
  })
  if (code !== 0) fail(`Failed to modify physical volume, pvchange output: ${output.trim()}`)
}

/** Removes missing physical volumes from a volume group. */
export async function repairStorageUnit(run: Run, type: string, name: string, operation: string): Promise<void> {
  if (type !== 'lvm-vg' || operation !== 'fix-consistency')
    fail(`Storage units of type '${type}' do not know the operation '${operation}'`)
  await run(['vgreduce', '--removemissing', '--', name], { timeout_s: DEVICE_ORDER_S })
  // The exit code of vgreduce depends on its version, so this checks afterwards whether volumes are still missing.
  const [missing] = await report(run, 'vgs', ['vg_missing_pv_count'], [name])
  if (missing?.[0] === '0') return
  const cut = (await logicalVolumes(run, [name])).filter(({ attributes }) => attributes[8] === 'p')
  const volumes = cut.map((one) => `${one.vg}/${one.name}`)
  fail(
    volumes.length === 0
      ? `Volume group '${name}' still has missing physical volumes: 'pvs' on this node shows them as unknown; bring their devices back, then try again`
      : `Volume group '${name}' still has missing physical volumes, because parts of ${volumes.join(', ')} were on them: ` +
          `'vgreduce --removemissing --force ${name}' on this node gives these volumes up; then 'gnt-instance replace-disks' makes those of ` +
          "mirrors again from the other node, and 'gnt-instance recreate-disks' makes others again, empty",
  )
}

async function report(
  run: Run,
  program: string,
  columns: readonly string[],
  only: readonly string[] = [],
): Promise<string[][]> {
  const options = ['--noheadings', '--units=m', '--nosuffix', '--separator=|', `-o${columns.join(',')}`]
  const target = only.length === 0 ? [] : ['--', ...only]
  const { code, stdout, output } = await run([program, ...options, ...target], {
    timeout_s: DEVICE_ANSWER_S,
    maxOutput: STORAGE_REPORT_BYTES_MAX,
  })
  if (code === NOT_STARTED) {
    if (only.length === 0) return []
    fail(
      `Failed to list volumes of '${only.join("', '")}': the program ${program} is not installed on this node; ` +
        'the Debian package lvm2 has it',
    )
  }
  if (code !== 0 && only.length === 0 && LVM_ONLY_ROOT.test(output)) return []
  if (code !== 0) fail(`${program} failed: ${output.trim()}`)
  const lines = stdout.split('\n').filter((line) => line.trim() !== '')
  return lines.map((line) => line.split('|').map((cell) => cell.trim()))
}
