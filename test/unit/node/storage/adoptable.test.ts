// Block devices that are to become disks: what they are, and what the machine does with them.
import * as fs from 'node:fs'
import { constants } from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { volumeHandlers } from '../../../../src/node/handlers/volumes'
import type { NodeContext } from '../../../../src/node/context'
import { storageMachine } from '../../../support/doubles/storage-machine'
import { testNode } from '../../../support/node-context'

const [WWN, SCSI, OTHER] = ['/dev/disk/by-id/wwn-1', '/dev/disk/by-id/scsi-1', '/dev/disk/by-id/wwn-2']
const NUMBERS: Readonly<Record<string, number>> = { sdb: 0x810, sdc: 0x820 }
const FREE = { [WWN]: { numbers: '8:16', held: null } }

interface Machine {
  readonly mounted?: string
  readonly holders?: readonly string[]
  readonly groups?: Readonly<Record<string, string>>
  /** Another has it for itself. */
  readonly exclusive?: boolean
}

async function onMachine<T>(
  { mounted = '', holders, groups = {}, exclusive }: Machine,
  work: (context: NodeContext) => Promise<T> | T,
): Promise<T> {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-adoptable-'))
  const machine = storageMachine(root)
  const put = (file: string, text: string) => {
    fs.mkdirSync(path.dirname(machine.local(file)), { recursive: true })
    fs.writeFileSync(machine.local(file), text)
  }
  for (const name of Object.keys(NUMBERS)) put(`/dev/${name}`, 'x')
  fs.mkdirSync(machine.local('/dev/disk/by-id/'), { recursive: true })
  for (const [link, name] of [
    [WWN, 'sdb'],
    [SCSI, 'sdb'],
    [OTHER, 'sdc'],
  ] as const)
    // prettier-ignore
    fs.symlinkSync(`../../${name}`, machine.local(link))
  put('/proc/self/mountinfo', `22 1 0:20 / /proc rw - proc proc rw\n${mounted}`)
  for (const name of holders ?? []) put(`/sys/dev/block/8:16/holders/${name}`, '')
  machine.programs.set('pvs', () =>
    Object.entries(groups)
      .map(([device, group]) => `  ${device}|${group}|100.00|100.00|a--\n`)
      .join(''),
  )
  const stat = async (file: string) =>
    Object.assign(await machine.files.stat(file), {
      rdev: NUMBERS[path.basename(fs.realpathSync(machine.local(file)))],
    })
  const open: typeof machine.files.open = (file, flags, ...more) =>
    exclusive === true && (Number(flags) & constants.O_EXCL) > 0
      ? Promise.reject(Object.assign(new Error('busy'), { code: 'EBUSY' }))
      : machine.files.open(file, flags, ...more)
  const readdir = ((folder: string) => fs.promises.readdir(machine.local(folder))) as typeof machine.files.readdir
  const files = { ...machine.files, stat: stat as typeof machine.files.stat, open, readdir }
  const node = testNode('node1.example.com', { files, run: machine.run })
  try {
    return await work(node.context)
  } finally {
    node.remove()
    fs.rmSync(root, { recursive: true })
  }
}

const observed = (machine: Machine, desired: readonly string[], others: readonly string[] = []) =>
  onMachine(machine, (context) => volumeHandlers.gantry_devices_seen(context, desired, others))

test('the names of a device have the same numbers; what is missing, or no device, is left out', async () => {
  await expect(observed({}, [WWN, '/dev/none', '/etc/passwd'], [SCSI, OTHER, '/dev/../etc/passwd'])).resolves.toEqual({
    ...FREE,
    [SCSI]: { numbers: '8:16', held: null },
    [OTHER]: { numbers: '8:32', held: null },
  })
})

test.each<[Machine, string]>([
  [{ mounted: '30 1 8:16 / /srv rw - ext4 /dev/sdb rw\n' }, 'it is mounted at /srv'],
  [{ holders: ['dm-0', 'dm-1'] }, 'it is below dm-0, dm-1'],
  [{ groups: { '/dev/sdb': 'xenvg' } }, 'it is a physical volume of the volume group xenvg'],
  [{ groups: { '/dev/sdb': '' } }, 'it is a physical volume of LVM'],
  [{ exclusive: true }, 'the kernel or a program has it, or a part of it, for itself'],
])('a device that the machine uses is held: %j', async (machine, held) => {
  await expect(observed(machine, [WWN])).resolves.toEqual({ [WWN]: { numbers: '8:16', held } })
  // The others belong to instances, which may use them.
  await expect(observed(machine, [], [WWN])).resolves.toEqual(FREE)
})

test.each<Machine>([
  { mounted: '30 1 8:32 / /srv rw - ext4 /dev/sdc rw\n' },
  { groups: { '/dev/sdc': 'xenvg', '[unknown]': 'xenvg' } },
])('one beside it holds nothing: %j', async (machine) => {
  await expect(observed(machine, [WWN])).resolves.toEqual(FREE)
})
