// A disk without a kernel device is lent to one program as a file.
import * as fs from 'node:fs'
import { fuseExport, fuseUnexport } from '../../../../src/node/storage/fuse-export'
import type { Files } from '../../../../src/lib/files'
import { clockAt } from '../../../support/instant-clock'
import { type TestNode, testNode } from '../../../support/node-context'
import type { recordedPrograms } from '../../../support/recorded-programs'

const URI = 'rbd:rbd/a.rbd.disk0'
const PID = '4711'

/** A node on which QEMU's daemon only seems to run: it is there as long as `running` says so. */
class Lender {
  running = false
  mounts = ''
  readonly asked: (readonly string[])[] = []
  private readonly node: TestNode = testNode('node1.example.com')
  readonly file = this.node.paths.local('/var/run/ganeti/lent-disks/rbd_rbd_a.rbd.disk0')

  get context() {
    const { context } = this.node
    const readFile = ((name: string, encoding: 'utf8') => {
      if (name === '/proc/mounts') return Promise.resolve(this.mounts)
      if (name === `/proc/${PID}/cmdline`)
        return Promise.resolve(this.running ? `x\0mountpoint=${this.file},y` : 'other')
      return context.files.readFile(name, encoding)
    }) as Files['readFile']
    return { ...context, clock: clockAt(0), files: { ...context.files, readFile }, run: this.run }
  }

  remove = () => this.node.remove()

  private readonly run: ReturnType<typeof recordedPrograms>['run'] = (argv) => {
    this.asked.push(argv)
    const [program] = argv
    if (program === 'qemu-storage-daemon') {
      this.running = true
      fs.writeFileSync(`${this.file}.pid`, `${PID}\n`)
    } else if (program === 'kill') this.running = false
    else if (program === 'umount') this.mounts = ''
    return Promise.resolve({ code: 0, signal: null, stdout: '', stderr: '', output: '', timedOut: false })
  }
}

let lender: Lender
beforeEach(() => (lender = new Lender()))
afterEach(() => lender.remove())

test('a disk is lent as a file by one process, until it is taken back', async () => {
  await expect(fuseExport(lender.context, URI)).resolves.toBe(lender.file)
  await fuseExport(lender.context, URI)
  expect(lender.asked.map(([program]) => program)).toEqual(['qemu-storage-daemon'])
  expect(lender.asked[0]).toContain(`type=fuse,id=file,node-name=disk,mountpoint=${lender.file},writable=on`)
  await fuseUnexport(lender.context, URI)
  expect(lender.asked.at(-1)).toEqual(['kill', PID])
  expect(fs.existsSync(lender.file)).toBe(false)
  await fuseUnexport(lender.context, URI)
  expect(lender.asked).toHaveLength(2)
})

test('a snapshot is lent for reading only', async () => {
  await fuseExport(lender.context, `${URI}@snap`)
  expect(lender.asked[0]?.join(' ')).toMatch(/"snapshot":"snap".*"read-only":true.*writable=off/)
})

test('what a killed process has left is cleared away; another process with its number is left alone', async () => {
  await fuseExport(lender.context, URI)
  lender.running = false
  lender.mounts = `/dev/fuse ${lender.file} fuse rw 0 0\n`
  await fuseUnexport(lender.context, URI)
  expect(lender.asked.slice(1)).toEqual([['umount', '--lazy', lender.file]])
})

test('a URI that QEMU does not know is refused', async () => {
  await expect(fuseExport(lender.context, 'nfs://host/file')).rejects.toThrow(
    'nfs://host/file has no device on node node1.example.com',
  )
})
