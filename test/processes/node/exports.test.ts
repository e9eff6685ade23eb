// Exports of instances are written, listed and removed as Ganeti's nodes do it, and nothing beside them.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { parseIni } from '../../../src/lib/file/ini'
import type { InstanceDict } from '../../../src/rpc/node/dicts'
import { createTransferCertificate, removeTransferCertificate } from '../../../src/node/certificates'
import { exportInfo, finalizeExport, listExports, removeExport } from '../../../src/node/exports'
import { powercycle } from '../../../src/node/powercycle'
import { runOob } from '../../../src/node/programs'
import { startTransfer, transferStatus } from '../../../src/node/transfer/transfers'
import { copyDevice, writeImage } from '../../../src/node/storage/image'
import { type TestNode, testNode } from '../../support/node-context'

let node: TestNode
beforeEach(() => {
  node = testNode()
  node.put('/var/lib/ganeti/export/inst1.example.com.new/disk-uuid', 'the data')
})
afterEach(() => node.remove())

const instance = {
  ...{ uuid: 'u', name: 'inst1.example.com', primary_node: 'node-uuid', secondary_nodes: [], os: 'debian' },
  ...{ hypervisor: 'kvm', hvparams: { acpi: true, kernel_path: '', migration_port: 8102 } },
  beparams: { minmem: 64, maxmem: 128, vcpus: 2, auto_balance: true, always_failover: false, spindle_use: 1 },
  ...{ osparams: { size: '50%' }, osparams_private: { key: 'hidden' }, admin_state: 'down', disks: [], disks_info: [] },
  nics: [{ uuid: 'n', mac: 'aa:00:00:00:00:01', nicparams: { mode: 'bridged', link: 'br0', vlan: '' } }],
  ...{ disks_active: false, tags: ['b', 'a'] },
} satisfies InstanceDict
const disk = { uuid: 'disk-uuid', dev_type: 'file', iv_name: 'disk/0', size: 10 }
const directory = () => node.paths.local('/var/lib/ganeti/export/inst1.example.com')

test('the file of an export is what Ganeti writes', async () => {
  await finalizeExport(node.context, instance, [disk])
  const text = fs.readFileSync(path.join(directory(), 'config.ini'), 'utf8').replace(/^(timestamp = ).*/m, '$1NOW')
  expect(text).toBe(
    [
      ...['[export]', 'version = 0', 'timestamp = NOW', 'source = node-uuid', 'os = debian', 'compression = none', ''],
      ...['[instance]', 'name = inst1.example.com', 'maxmem = 128', 'minmem = 64', 'memory = 128', 'vcpus = 2'],
      ...['disk_template = file', 'hypervisor = kvm', 'tags = b a', 'nic0_mac = aa:00:00:00:00:01', 'nic0_ip = None'],
      ...['nic0_network = None', 'nic0_name = None', 'nic0_mode = bridged', 'nic0_link = br0', 'nic0_vlan = '],
      ...['nic_count = 1', 'disk0_ivname = disk/0', 'disk0_dump = disk-uuid', 'disk0_size = 10', 'disk0_name = None'],
      ...['disk_count = 1', '', '[hypervisor]', 'acpi = True', 'kernel_path = ', '', '[backend]', 'minmem = 64'],
      ...['maxmem = 128', 'vcpus = 2', 'auto_balance = True', 'always_failover = False', 'spindle_use = 1', ''],
      ...['[os]', 'size = 50%%', '', '[os_private]', 'key = hidden', '', ''],
    ].join('\n'),
  )
  expect(await listExports(node.context)).toEqual(['inst1.example.com'])
  expect(parseIni(await exportInfo(node.context, directory()))['os']).toEqual({ size: '50%' })
})

test('an older export stays when the new one cannot take its place', async () => {
  node.put('/var/lib/ganeti/export/inst1.example.com/old', '')
  const { files } = node.context
  const rename: typeof files.rename = (from, to) =>
    String(from).endsWith('.new') ? Promise.reject(new Error('EIO')) : files.rename(from, to)
  await expect(finalizeExport({ ...node.context, files: { ...files, rename } }, instance, [disk])).rejects.toThrow(
    'EIO',
  )
  expect(fs.readdirSync(directory())).toEqual(['old'])
  expect(fs.existsSync(`${directory()}.new/disk-uuid`)).toBe(true)
})

test('a new export takes the place of an older one, which is there until then', async () => {
  node.put('/var/lib/ganeti/export/inst1.example.com/old', '')
  await finalizeExport(node.context, instance, [disk, false])
  expect(fs.readdirSync(directory()).sort()).toEqual(['config.ini', 'disk-uuid'])
  expect(await listExports(node.context)).toEqual(['inst1.example.com'])
  await removeExport(node.context, 'inst1.example.com')
  expect(await listExports(node.context)).toEqual([])
})

test('a new export leaves those of other instances alone, whatever their names', async () => {
  for (const name of ['inst1.example.com', 'inst1.example.com.old'])
    node.put(`/var/lib/ganeti/export/${name}/config.ini`, '')
  await finalizeExport(node.context, instance, [disk])
  expect(await listExports(node.context)).toEqual(['inst1.example.com', 'inst1.example.com.old'])
})

test('nothing outside the directory of exports is told, removed or written', async () => {
  await expect(exportInfo(node.context, node.paths.local('/etc'))).rejects.toThrow('is not under exports directory')
  await expect(removeExport(node.context, '..')).rejects.toThrow("Invalid name of an export: '..'")
  await expect(removeExport(node.context, 'nosuch')).rejects.toThrow('Error while removing the export')
  const transfer = (file: string) =>
    startTransfer(node.context, {
      ...{ mode: 'import', options: {}, instance, component: 'disk0', end: ['file', [file]] },
    })
  node.put('/var/lib/ganeti/server.pem', 'pem')
  await expect(transfer('/var/lib/ganeti/export/../server.pem')).rejects.toThrow('is not under exports directory')
  fs.symlinkSync('/tmp', node.paths.local('/var/lib/ganeti/export/link'))
  await expect(transfer('/var/lib/ganeti/export/link/file')).rejects.toThrow('is not under exports directory')
  await expect(transferStatus(node.context, '../export')).rejects.toThrow('Invalid name of a transfer')
})

test('a transfer that nobody could find again is ended', async () => {
  node.put('/var/lib/ganeti/server.pem', 'pem')
  const { files, processes } = node.context
  const ended: [number, string][] = []
  const context = {
    ...node.context,
    files: { ...files, writeFile: () => Promise.reject(new Error('ENOSPC')) },
    processes: {
      ...processes,
      start: () => Promise.resolve({ pid: 4711, feed: () => undefined }),
      signal: (pid: number, name: string) => ended.push([pid, name]) > 0,
    },
  }
  const end = ['file', [node.paths.local('/var/lib/ganeti/export/inst1.example.com.new/disk-uuid')]] as const
  const request = {
    mode: 'export',
    host: '127.0.0.1',
    port: 1,
    options: {},
    instance,
    component: 'disk0',
    end,
  } as const
  await expect(startTransfer(context, request)).rejects.toThrow('ENOSPC')
  expect(ended).toEqual([[-4711, 'SIGKILL']])
})

test('an export that tells nothing of itself is no export', async () => {
  node.put('/var/lib/ganeti/export/broken/config.ini', '[export]\nversion = 0\n')
  const broken = node.paths.local('/var/lib/ganeti/export/broken')
  await expect(exportInfo(node.context, broken)).rejects.toThrow("doesn't have the required fields")
  const absent = node.paths.local('/var/lib/ganeti/export/absent')
  await expect(exportInfo(node.context, absent)).rejects.toThrow(
    "'/var/lib/ganeti/export/absent/config.ini' is not there; gnt-backup list shows what is",
  )
  node.put('/var/lib/ganeti/export/broken/config.ini', 'rubbish')
  await expect(exportInfo(node.context, broken)).rejects.toThrow('line 1 is not understood')
})

test('a section with the name of what every object has is a section like others', () => {
  const { __proto__: section } = parseIni('[__proto__]\nkvm_extra = -x\n') as Record<string, unknown>
  expect(section).toEqual({ kvm_extra: '-x' })
  expect({}).not.toHaveProperty('kvm_extra')
})

test('an export whose file is a pipe or a device holds up nobody', async () => {
  const folder = path.dirname(node.put('/var/lib/ganeti/export/odd/disk', ''))
  fs.symlinkSync('/dev/zero', path.join(folder, 'config.ini'))
  await expect(exportInfo(node.context, folder)).rejects.toThrow('cannot be read: it is no plain file')
  fs.rmSync(path.join(folder, 'config.ini'))
  execFileSync('mkfifo', [path.join(folder, 'config.ini')])
  await expect(exportInfo(node.context, folder)).rejects.toThrow('cannot be read: it is no plain file')
})

test('a certificate for a transfer has its key beside it, for the node alone', async () => {
  const [name, pem] = await createTransferCertificate(node.context, 3600)
  const folder = node.paths.local(`/var/run/ganeti/crypto/${name}`)
  expect(pem).toBe(fs.readFileSync(path.join(folder, 'cert'), 'utf8'))
  expect(fs.statSync(path.join(folder, 'key')).mode & 0o777).toBe(0o400)
  await removeTransferCertificate(node.context, name)
  expect(fs.existsSync(folder)).toBe(false)
  await expect(removeTransferCertificate(node.context, 'x509-../../..')).rejects.toThrow('Invalid name')
})

test('an out-of-band helper answers with JSON or nothing; a failure says what it printed', async () => {
  const helper = node.put('/usr/lib/oob', '#!/bin/sh\ncase $1 in health) echo "[[\\"fan\\", \\"OK\\"]]";; bad) echo no;; fail) echo broken; exit 2;; esac\n', 0o755) // prettier-ignore
  await expect(runOob(node.context, helper, 'health', 'node2', 10)).resolves.toEqual([['fan', 'OK']])
  await expect(runOob(node.context, helper, 'power-on', 'node2', 10)).resolves.toBeNull()
  await expect(runOob(node.context, helper, 'bad', 'node2', 10)).rejects.toThrow('printed what is not JSON: no')
  await expect(runOob(node.context, helper, 'fail', 'node2', 10)).rejects.toThrow(
    /exited with exit code 2'; output: broken/,
  )
  fs.chmodSync(helper, 0o757)
  const refusal = `oob_program '${helper}' is not started: ${helper} can be written by others; only root may be able to change it`
  await expect(runOob(node.context, helper, 'health', 'node2', 10)).rejects.toThrow(refusal)
  await expect(runOob(node.context, '/no/such', 'health', 'node2', 10)).rejects.toThrow('exited with exit code 127')
})

test('a virtual node does not reset the machine that it shares', () => {
  expect(() => powercycle(node.context, 'kvm')).toThrow('This is a virtual node')
})

test('an image without length is refused: what the kernel writes as it comes has none', async () => {
  const id = ['loop', '/srv/ganeti/file-storage/inst1.example.com/d']
  node.put('/srv/ganeti/file-storage/inst1.example.com/d', '-')
  const image = writeImage(node.context, { ...disk, size: 2, logical_id: id }, '/proc/uptime', 1)
  await expect(image).rejects.toThrow("Image '/proc/uptime' is empty")
})

test('an image is written to the beginning of a disk, and not beyond its size', async () => {
  const id = ['loop', '/srv/ganeti/file-storage/inst1.example.com/d']
  const target = { ...disk, size: 2, logical_id: id }
  const file = node.put('/srv/ganeti/file-storage/inst1.example.com/d', '-'.repeat(2 << 20))
  const image = node.put('/tmp/image', 'x'.repeat(3 << 20))
  await writeImage(node.context, target, image, 1)
  const text = fs.readFileSync(file, 'utf8')
  expect([text.length, text.lastIndexOf('x')]).toEqual([2 << 20, (1 << 20) - 1])
  await expect(writeImage(node.context, target, image, 3)).rejects.toThrow('Image size is bigger than device size')
  await expect(writeImage(node.context, target, '/nosuch/image', 1)).rejects.toThrow("Image '/nosuch/image' not found")
  const pipe = `${image}.pipe`
  execFileSync('mkfifo', [pipe])
  await expect(writeImage(node.context, target, pipe, 1)).rejects.toThrow('is neither a file nor a block device')
  await copyDevice(node.context.files, node.put('/tmp/small', 'abc'), file)
  expect(fs.readFileSync(file, 'utf8').slice(0, 4)).toBe('abcx')
})
