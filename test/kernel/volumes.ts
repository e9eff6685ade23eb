// Steps of volumes' lives that the recordings of a real Ganeti do not have, on real kernels: moved, renamed, exported and imported, adopted, in
// stripes, where LVM may not place them, and what is refused.
import { Leftovers } from './leftovers'
import { type Machines, nameOf } from './machines'
import type { Mirrors } from './mirrors'
import { eventually } from '../support/hypervisor'

const [NAME, OTHER, IMPORTED] = ['inst1.gnt.example', 'inst3.gnt.example', 'inst5.gnt.example']
const GROUP = 'xenvg'
const [FIRST, SECOND] = ['/dev/vdb', '/dev/vdc']

export class Volumes {
  constructor(
    private readonly machines: Machines,
    private readonly mirrors: Mirrors,
  ) {}

  private gnt = (...words: string[]) => this.machines.gnt(...words)

  async isRenamedMovedAndImported(): Promise<void> {
    const { mirrors, gnt } = this
    await mirrors.add(NAME, 'plain', [1], '16m')
    const data = await mirrors.write(1, await mirrors.device(NAME))
    await gnt('instance', 'deactivate-disks', NAME)
    await gnt('instance', 'rename', NAME, OTHER)
    expect(await mirrors.volumes(1, NAME)).toEqual([])
    expect(await mirrors.volumes(1, OTHER)).toHaveLength(1)

    await gnt('instance', 'move', '-f', '-n', nameOf(2), OTHER)
    expect(await mirrors.volumes(1, OTHER)).toEqual([])
    expect(await mirrors.read(2, await mirrors.device(OTHER))).toBe(data)
    const later = await this.hasSnapshots(OTHER, 2, data)

    await gnt('instance', 'startup', OTHER)
    await gnt('backup', 'export', '--noshutdown', '-n', nameOf(3), OTHER)
    await gnt('instance', 'shutdown', '--timeout=0', OTHER)
    const from = [`--src-node=${nameOf(3)}`, `--src-dir=${OTHER}`]
    const to = ['-t', 'drbd', '-n', `${nameOf(1)}:${nameOf(2)}`, '--no-nics']
    await gnt('backup', 'import', ...from, ...to, IMPORTED)
    expect(await mirrors.read(1, await mirrors.device(IMPORTED, '--wait-for-sync'))).toBe(later)
    for (const name of [OTHER, IMPORTED]) await gnt('instance', 'remove', '-f', name)
    await gnt('backup', 'remove', OTHER)
    await this.nothingIsLeft()
  }

  /** The snapshot of a disk that is used has what the disk had then. Answers with what the disk has later. */
  async hasSnapshots(name: string, node: number, data: string): Promise<string> {
    const { machines, mirrors, gnt } = this
    await gnt('instance', 'snapshot', '--disk', '0:snapshot_name=before', name)
    const device = await mirrors.device(name)
    const later = await mirrors.write(node, device)
    const reported = await machines.inGuest(node, 'lvs --noheadings -o lv_path,origin -S origin!=""')
    const [snapshot = ''] = reported.trim().split(/\s+/)
    expect([await mirrors.read(node, snapshot), await mirrors.read(node, device)]).toEqual([data, later])
    await gnt('instance', 'remove-snapshot', '--disk', '0:snapshot_name=before', name)
    expect(await machines.inGuest(node, 'lvs --noheadings -o lv_path -S origin!=""')).toBe('')
    return later
  }

  /** A volume and a mirror get the data of their snapshots again, the mirror on both of its sides. */
  async areRolledBack(): Promise<void> {
    const { mirrors, gnt } = this
    const toBefore = ['--disk', '0:snapshot_name=before', NAME]
    for (const template of ['plain', 'drbd']) {
      const isMirror = template === 'drbd'
      await mirrors.add(NAME, template, isMirror ? [1, 2] : [1], '64m')
      const device = await mirrors.device(NAME, '--wait-for-sync')
      const data = await mirrors.write(1, device)
      await gnt('instance', 'snapshot', ...toBefore)
      const later = await mirrors.write(1, device)
      expect(await mirrors.read(1, device)).toBe(later)
      await gnt('instance', 'rollback-snapshot', ...toBefore)
      expect(await mirrors.read(1, device)).toBe(data)
      // With inactive disks, too, and more than once.
      await mirrors.write(1, device)
      await gnt('instance', 'deactivate-disks', NAME)
      await gnt('instance', 'rollback-snapshot', ...toBefore)
      expect(await mirrors.read(1, await mirrors.device(NAME))).toBe(data)
      if (isMirror) {
        await gnt('instance', 'failover', '-f', NAME)
        expect(await mirrors.read(2, await mirrors.device(NAME))).toBe(data)
        expect(await this.machines.refused('instance', 'rollback-snapshot', ...toBefore)).toMatch(/is on node node1/)
      }
      await gnt('instance', 'remove', '-f', NAME)
      await this.nothingIsLeft()
    }
  }

  /**
   * Every block of a volume changes. Its snapshot has room for that. One with less room is invalid afterwards: it is never rolled back to, and
   * the instance starts with the other one.
   */
  async losesFullSnapshots(): Promise<void> {
    const { machines, mirrors, gnt } = this
    const named = (name: string) => ['--disk', `0:snapshot_name=${name}`, NAME]
    await mirrors.add(NAME, 'plain', [1], '64m')
    const device = await mirrors.device(NAME)
    const data = await mirrors.write(1, device)
    await gnt('instance', 'snapshot', '--disk', '0:snapshot_name=small,snapshot_size=4m', NAME)
    await gnt('instance', 'snapshot', ...named('whole'))
    await machines.inGuest(1, `dd if=/dev/urandom of=${device} bs=1M count=64 oflag=direct conv=notrunc 2> /dev/null`)
    // A node that is too busy to answer soon is shown as unknown.
    const listed = await eventually(async () => {
      const text = await gnt('instance', 'list-snapshots', NAME)
      return text.includes('unknown') ? undefined : text
    })
    expect(listed).toMatch(/ small .* invalid\n.* whole .* ok/)
    expect(await gnt('instance', 'info', NAME)).toMatch(/small: size 64M, [*]INVALID[*]/)
    expect(await machines.verify()).toMatch(/snapshot 'small' of disk\/0 is invalid/)
    expect(await machines.refused('instance', 'rollback-snapshot', ...named('small'))).toMatch(/'small': it is invalid/)
    await gnt('instance', 'deactivate-disks', NAME)
    expect(await machines.refused('instance', 'rollback-snapshot', ...named('small'))).toMatch(/'small': it is invalid/)
    await gnt('instance', 'rollback-snapshot', ...named('whole'))
    expect(await mirrors.read(1, await mirrors.device(NAME))).toBe(data)
    await gnt('instance', 'remove-snapshot', ...named('small'))
    await gnt('instance', 'remove', '-f', NAME)
    await this.nothingIsLeft()
  }

  /** The volumes of a mirror are lost on both nodes. Only one of them gets new ones. */
  async areMadeAgainElsewhere(): Promise<void> {
    const { machines, mirrors, gnt } = this
    await mirrors.add(NAME, 'drbd', [1, 2], '16m')
    await gnt('instance', 'deactivate-disks', NAME)
    for (const node of [1, 2])
      for (const volume of await mirrors.volumes(node, NAME))
        await machines.inGuest(node, `lvremove -q -f ${GROUP}/${volume}`)
    await gnt('instance', 'recreate-disks', '-n', `${nameOf(2)}:${nameOf(3)}`, NAME)
    expect(await mirrors.sides(NAME)).toEqual([2, 3])
    const data = await mirrors.write(2, await mirrors.device(NAME, '--wait-for-sync'))
    await mirrors.expectInSync([2, 3])
    expect(await mirrors.read(2, await mirrors.device(NAME))).toBe(data)
    await gnt('instance', 'remove', '-f', NAME)
    await this.nothingIsLeft()
  }

  async areAdopted(): Promise<void> {
    const { machines, mirrors, gnt } = this
    await machines.inGuest(1, `lvcreate -q -y -Wn -Zn -L32m -nmine ${GROUP}`)
    const data = await mirrors.write(1, `/dev/${GROUP}/mine`)
    await gnt(...plain('0:adopt=mine'))
    expect(await mirrors.read(1, await mirrors.device(NAME))).toBe(data)
    expect(await mirrors.volumes(1, NAME)).toHaveLength(1)
    await gnt('instance', 'remove', '-f', NAME)
    await this.nothingIsLeft()
  }

  /** The group gets a second physical volume, and loses it in the end, with what was on it. */
  async arePlaced(): Promise<void> {
    const { machines, gnt } = this
    await machines.inGuest(1, `vgextend -q ${GROUP} ${SECOND}`)
    await gnt('cluster', 'modify', '-D', 'plain:stripes=2')
    await gnt(...plain('0:size=32m'))
    await gnt('cluster', 'modify', '-D', 'plain:stripes=1')
    expect(await this.layout('stripes,devices')).toMatch(/^2 \S*vd[bc]\(\d+\),\S*vd[bc]\(\d+\)$/)
    await gnt('instance', 'grow-disk', NAME, '0', '32m')
    expect(await this.layout('lv_size,stripes --units m --nosuffix')).toMatch(/64[.]00 2/)
    await gnt('instance', 'remove', '-f', NAME)

    await gnt(...plain('0:size=32m,stripes=2,stripe-size=128k'))
    expect(await this.layout('stripes,stripe_size --units k --nosuffix')).toMatch(/^2 128[.]00/)
    expect(await gnt('instance', 'info', NAME)).toMatch(/stripe-size: 128 \(disk\)/)
    await gnt('instance', 'grow-disk', NAME, '0', '32m')
    expect(await this.layout('stripes,stripe_size --units k --nosuffix')).toMatch(/^2 128[.]00/)
    await gnt('instance', 'remove', '-f', NAME)

    const mayPlace = (volume: string, may: 'yes' | 'no') =>
      gnt('node', 'modify-storage', `--allocatable=${may}`, nameOf(1), 'lvm-pv', volume)
    await mayPlace(FIRST, 'no')
    expect(await gnt('node', 'list-storage', '--storage-type=lvm-pv', '-o', 'name,allocatable', nameOf(1))).toMatch(
      /vdb +N/,
    )
    await gnt(...plain('0:size=32m'))
    expect(await this.layout('devices')).toMatch(/vdc/)
    await gnt('instance', 'remove', '-f', NAME)
    await mayPlace(SECOND, 'no')
    expect(await machines.refused(...plain('0:size=32m'))).toMatch(/node1[^]*xenvg/)
    await this.nothingIsLeft()
    await mayPlace(FIRST, 'yes')

    await mayPlace(SECOND, 'yes')
    await machines.inGuest(1, `lvcreate -q -y -an -Wn -Zn -L32m -ncut ${GROUP} ${SECOND}`)
    await machines.inGuest(1, 'echo 1 > "$(readlink -f /sys/block/vdc/device/..)/remove"')
    const way = `gnt-node repair-storage ${nameOf(1)} lvm-vg ${GROUP}`
    expect(await machines.refused(...plain('0:size=32m'))).toContain(way)
    expect(await machines.verify()).toContain(way)
    const repair = ['node', 'repair-storage', nameOf(1), 'lvm-vg', GROUP]
    const force = `vgreduce --removemissing --force ${GROUP}`
    expect(await machines.refused(...repair)).toMatch(new RegExp(`parts of ${GROUP}/cut were on them: '${force}'`))
    await machines.inGuest(1, force)
    await gnt(...repair)
    const reported = await machines.inGuest(1, `vgs --noheadings -o pv_count,vg_missing_pv_count ${GROUP}`)
    expect(reported.trim().split(/\s+/)).toEqual(['1', '0'])
    await this.nothingIsLeft()
  }

  async areRefused(): Promise<void> {
    const { machines, mirrors } = this
    const drbd = (size: string): string[] => mirrors.adding(NAME, 'drbd', [1, 2], size)
    expect(await machines.refused(...plain('0:size=100g'))).toMatch(/node1[^]*xenvg|xenvg[^]*node1/)
    expect(await machines.refused(...drbd('100g'))).toMatch(/node[12][^]*xenvg|xenvg[^]*node[12]/)
    expect(await machines.refused(...plain('0:size=32m,vg=nosuch'))).toMatch(/node1[^]*nosuch|nosuch[^]*node1/)
    await machines.inGuest(2, 'drbdsetup new-resource stranger && drbdsetup new-minor stranger 0 0')
    expect(await machines.refused(...drbd('32m'))).toMatch(
      /Minor 0 of DRBD on node node2.* \(stranger.*drbdsetup down stranger/,
    )
    await machines.inGuest(2, 'drbdsetup down stranger')
    await this.nothingIsLeft()
  }

  /** The layout of the only volume on node 1. */
  private async layout(columns: string): Promise<string> {
    const reported = await this.machines.inGuest(1, `lvs --noheadings -o ${columns} -S 'lv_tags=originstname+${NAME}'`)
    return reported.trim().split(/\s+/).join(' ')
  }

  private async nothingIsLeft(): Promise<void> {
    expect(await new Leftovers(this.machines, [1, 2, 3]).found()).toEqual([])
  }
}

const plain = (disk: string): string[] => [
  ...['instance', 'add', '-t', 'plain', '--disk', disk, '-n', nameOf(1), '-o', 'gantry-tiny', '--no-nics'],
  ...['--no-start', '-B', 'memory=16', NAME],
]
