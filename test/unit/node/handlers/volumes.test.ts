// Node calls about volume groups and volumes, with recorded outputs of LVM.
import { volumeHandlers } from '../../../../src/node/handlers/volumes'
import type { NodeContext } from '../../../../src/node/context'
import { testNode } from '../../../support/node-context'
import { recordedPrograms, type RecordedProgram } from '../../../support/recorded-programs'

const LVS = 'lvs --noheadings --units=m --nosuffix --separator=| -ovg_name,lv_name,lv_size,lv_attr,devices'
const PLAIN = '14632bfe-d0f2-4e65-969d-e5a4a0153e36.disk1'
const META = '55e04c36-651d-49a5-9f42-a46dd12e9286.disk0_meta'
const STDOUT = [
  `  xenvg|${PLAIN}|32.00|-wi-a-----|/dev/vdb(16)`,
  `  xenvg|${META}|128.00|-wi-ao----|/dev/vdb(56),/dev/vdc(0)`,
  '  xenvg|unused|64.00|-wi-------|/dev/vdb(0)',
  '',
].join('\n')

async function on<T>(programs: readonly RecordedProgram[], work: (context: NodeContext) => T): Promise<Awaited<T>> {
  const node = testNode('node1.example.com', { run: recordedPrograms(programs).run })
  try {
    return await work(node.context)
  } finally {
    node.remove()
  }
}

test('volume groups are told with their sizes', async () => {
  const argv = 'vgs --noheadings --units=m --nosuffix --separator=| -ovg_name,vg_size,vg_free'
  const answer = on([{ argv, stdout: '  xenvg|24572.00|24156.00\n' }], (context) => volumeHandlers.vg_list(context))
  await expect(answer).resolves.toEqual({ xenvg: 24572 })
})

test('a logical volume is told with its size, whether it is inactive, and whether somebody has it open', async () => {
  const recorded = [{ argv: `${LVS} -- xenvg`, stdout: STDOUT }]
  await expect(on(recorded, (context) => volumeHandlers.lv_list(context, 'xenvg'))).resolves.toEqual({
    [`xenvg/${PLAIN}`]: ['32.00', false, false],
    [`xenvg/${META}`]: ['128.00', false, true],
    'xenvg/unused': ['64.00', true, false],
  })
})

test('volumes are listed of several groups, or of all; a virtual one keeps nothing', async () => {
  const stdout = `${STDOUT}  other|lost|64.00|vwi-a-----|\n`
  const names = [`xenvg/${PLAIN}`, `xenvg/${META}`, 'xenvg/unused']
  const two = on([{ argv: `${LVS} -- xenvg other`, stdout }], (context) =>
    volumeHandlers.lv_list(context, ['xenvg', 'other']),
  )
  expect(Object.keys(await two)).toEqual(names)
  for (const all of [[], ''])
    expect(Object.keys(await on([{ argv: LVS, stdout }], (context) => volumeHandlers.lv_list(context, all)))).toEqual(
      names,
    )
})

test('a volume is listed once for each device that it is on', async () => {
  await expect(on([{ argv: LVS, stdout: STDOUT }], (context) => volumeHandlers.node_volumes(context))).resolves.toEqual(
    [
      { name: PLAIN, size: '32.00', dev: '/dev/vdb', vg: 'xenvg' },
      { name: META, size: '128.00', dev: '/dev/vdb', vg: 'xenvg' },
      { name: META, size: '128.00', dev: '/dev/vdc', vg: 'xenvg' },
      { name: 'unused', size: '64.00', dev: '/dev/vdb', vg: 'xenvg' },
    ],
  )
})

test('sizes are told of block devices only, and no other file is asked about', async () => {
  const recorded = [
    { argv: 'blockdev --getsize64 /dev/xenvg/a', stdout: '134217728\n' },
    {
      argv: 'blockdev --getsize64 /dev/none',
      code: 1,
      stderr: 'blockdev: cannot open /dev/none: No such file or directory\n',
    },
  ]
  const requested = ['/dev/xenvg/a', '/dev/none', '/etc/passwd', '/dev/../etc/passwd']
  await expect(on(recorded, (context) => volumeHandlers.bdev_sizes(context, requested))).resolves.toEqual({
    '/dev/xenvg/a': 128,
  })
})
