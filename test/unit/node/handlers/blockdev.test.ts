// Node calls about disks: who is told what, and what is noted for scripts. What drivers do is tested with them.
import * as fs from 'node:fs'
import { blockdevHandlers } from '../../../../src/node/handlers/blockdev'
import type { NodeContext } from '../../../../src/node/context'
import { CHILDREN, DATA, LVS, META, SHOWN, VERSION, drbdDisk, kernelSays, onDrbdNode } from '../../../support/drbd-node'
import { testNode } from '../../../support/node-context'
import type { RecordedProgram } from '../../../support/recorded-programs'

const does = (argv: string): RecordedProgram => ({ argv })
const notes = ({ paths }: NodeContext) => fs.readdirSync(paths.bdevCacheDir).sort()
const INSTANCE = 'inst2.gnt.example'

/** Volumes that were made by calls of their own, as the master does it. */
async function noteVolumes({ paths, files }: NodeContext): Promise<void> {
  await files.mkdir(paths.bdevCacheDir, { recursive: true })
  for (const name of ['drbd0', ...[DATA, META].map((one) => one.slice('/dev/'.length).replace('/', '_'))])
    await files.writeFile(`${paths.bdevCacheDir}/bdev_${name}`, `${INSTANCE} primary not_visible\n`)
}

test('a disk that is removed leaves no notes of what it consisted of', async () => {
  const volumes = CHILDREN.map(({ logical_id }) => does(`lvremove -f ${logical_id?.join('/')}`))
  const programs = [SHOWN, does('drbdsetup down resource0'), LVS, ...volumes, LVS]
  await onDrbdNode({ kernel: [kernelSays('Connected')], programs }, async (context) => {
    await noteVolumes(context)
    await blockdevHandlers.blockdev_remove(context, drbdDisk())
    expect(notes(context)).toEqual([])
  })
})

test('a volume that is made is noted with its owner, and only where the instance runs it is said to be primary', async () => {
  const [volume] = CHILDREN
  if (volume === undefined) throw new Error('no volume')
  const name = DATA.split('/').at(-1)
  const programs = [does(`lvcreate -Wn -L192m -n${name} -i1 xenvg`)]
  await onDrbdNode({ programs }, async (context) => {
    const id = await blockdevHandlers.blockdev_create(context, volume, 192, INSTANCE, false, '', false)
    expect(id).toEqual(['xenvg', name])
    const [note = ''] = notes(context)
    expect(fs.readFileSync(`${context.paths.bdevCacheDir}/${note}`, 'utf8')).toBe(`${INSTANCE} secondary not_visible\n`)
  })
})

test('links stay where no instance is named', async () => {
  const programs = [SHOWN, does('drbdsetup secondary 0')]
  for (const [instance, left] of [
    ['', 1],
    [INSTANCE, 0],
  ] as const)
    await onDrbdNode({ kernel: [kernelSays('Connected')], programs }, async (context) => {
      const folder = context.paths.local('/var/run/ganeti/instance-disks')
      fs.mkdirSync(folder, { recursive: true })
      fs.symlinkSync('/dev/drbd0', `${folder}/${INSTANCE}:0`)
      await blockdevHandlers.blockdev_close(context, instance, [drbdDisk()])
      expect(fs.readdirSync(folder)).toHaveLength(left)
    })
})

test('sizes are told of the disks that are there, and the others do not hide them', async () => {
  const lost = drbdDisk({ dynamic_params: {} })
  const node = { kernel: [kernelSays('Connected')], size_mib: 192, programs: [SHOWN] }
  const { result } = await onDrbdNode(node, (context) =>
    blockdevHandlers.blockdev_getdimensions(context, [drbdDisk(), lost]),
  )
  expect(result).toEqual([[192 << 20, null], null])
  const without = await onDrbdNode({ kernel: [VERSION], programs: [] }, (context) =>
    blockdevHandlers.blockdev_getmirrorstatus_multi(context, [drbdDisk()]),
  )
  expect(without.result).toEqual([
    [false, "Can't find device disk/0 (drbd node1-uuid node2-uuid 11000 0 0) on node node1.gnt.example"],
  ])
})

test('a copy ends when its caller is gone', async () => {
  const MIB = 1 << 20
  const node = testNode()
  const disk = (name: string) => {
    const file = `/srv/ganeti/file-storage/inst1.example.com/${name}`
    fs.truncateSync(node.put(file, ''), 64 * MIB)
    return { uuid: name, dev_type: 'file', logical_id: ['loop', file], size: 64, iv_name: name }
  }
  const end = new AbortController()
  let read = 0
  const createReadStream: typeof node.context.files.createReadStream = (file, options) => {
    const stream = node.context.files.createReadStream(file, options)
    return stream.on('data', (chunk) => {
      read += chunk.length
      end.abort()
    })
  }
  const context = { ...node.context, files: { ...node.context.files, createReadStream }, caller: end.signal }
  await expect(blockdevHandlers.blockdev_convert(context, disk('one'), disk('other'))).rejects.toThrow(
    'was ended, because the caller is gone',
  )
  expect(read).toBeLessThan(64 * MIB)
  node.remove()
})

test('a disk is not copied to one that has no room for its end', async () => {
  const node = testNode()
  const disk = (name: string, text: string) => {
    const file = `/srv/ganeti/file-storage/inst1.example.com/${name}`
    node.put(file, text)
    return { uuid: name, dev_type: 'file', logical_id: ['loop', file], size: 1, iv_name: name }
  }
  const [long, short, same] = [disk('long', 'abcdef'), disk('short', 'xyz'), disk('same', 'uvwxyz')]
  await expect(blockdevHandlers.blockdev_convert(node.context, long, short)).rejects.toThrow(
    /^Disk long .* has 6 bytes on node node1.example.com, and disk short .* only 3, so its end would be lost/,
  )
  const textOf = ({ logical_id: [, file] }: typeof long) => fs.readFileSync(node.paths.local(file ?? ''), 'utf8')
  expect(textOf(short)).toBe('xyz')
  await blockdevHandlers.blockdev_convert(node.context, long, same)
  expect(textOf(same)).toBe('abcdef')
  node.remove()
})
