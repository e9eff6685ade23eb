// OS definitions are found and judged, and their scripts get what Ganeti gives them.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { diagnoseProviders } from '../../../src/node/storage/ext/providers'
import { diagnoseAll } from '../../../src/node/os-definition'
import { DEFINITION_BYTES_MAX, OS_LOG_BYTES_MAX } from '../../../src/model/limits/node'
import { osCreate, osRename, osValidate } from '../../../src/node/os'
import { Disks } from '../../../src/node/storage/disks'
import type { InstanceDict } from '../../../src/rpc/node/dicts'
import { type TestNode, testNode } from '../../support/node-context'

let node: TestNode
beforeEach(() => void (node = testNode()))
afterEach(() => node.remove())

const SCRIPT = '#!/bin/sh\nenv | sort\necho "in $(pwd)"\n'

function putOs(name: string, api: string, extra: Record<string, string> = {}): void {
  const directory = `/srv/ganeti/os/${name}`
  node.put(`${directory}/ganeti_api_version`, api)
  const scripts = { create: SCRIPT, import: SCRIPT, export: SCRIPT, rename: SCRIPT }
  for (const [file, text] of Object.entries({ ...scripts, ...extra }))
    if (text !== '') node.put(`${directory}/${file}`, text, 0o755)
}

const full = {
  'variants.list': '# comment\ndefault\nbig\n',
  'parameters.list': 'filesystem The filesystem type\nsize\n',
  verify: '#!/bin/sh\necho "checked $1: $OSP_FILESYSTEM"\n[ "$OSP_FILESYSTEM" = ext4 ]\n',
}

const instance: InstanceDict = {
  uuid: 'e9a66b7a-1fd5-4ee7-b44e-95ca1fd4c4b2',
  name: 'inst1.example.com',
  primary_node: 'node-uuid',
  secondary_nodes: ['a', 'b'],
  os: 'full+big',
  hypervisor: 'kvm',
  hvparams: { acpi: true, disk_type: 'paravirtual', kernel_path: '' },
  beparams: { minmem: 64, maxmem: 128, vcpus: 1, auto_balance: true, always_failover: false, spindle_use: 1 },
  osparams: { filesystem: 'ext4', 'a-b': 'x' },
  osparams_private: { password: 'secret' },
  admin_state: 'up',
  nics: [
    { uuid: 'n', mac: 'aa:00:00:3a:b4:f7', ip: '10.0.0.2', nicparams: { mode: 'bridged', link: 'br0', vlan: '' } },
  ],
  disks: ['d'],
  disks_active: true,
  disks_info: [
    {
      uuid: 'd',
      dev_type: 'file',
      logical_id: ['loop', '/srv/ganeti/file-storage/inst1.example.com/d'],
      size: 1,
      mode: 'rw',
    },
  ],
  ctime: 1.5,
}

test('definitions of the machine count for a virtual node, those that only root may change', async () => {
  const machine = path.dirname(node.put('/machine/x', ''))
  const definition = path.join(machine, 'debootstrap')
  fs.mkdirSync(definition)
  fs.writeFileSync(path.join(definition, 'ganeti_api_version'), '10\n')
  for (const script of ['create', 'import', 'export', 'rename'])
    fs.writeFileSync(path.join(definition, script), SCRIPT, { mode: 0o755 })
  const context = { ...node.context, osSearchPath: [...node.context.osSearchPath, machine], machineOsPath: [machine] }
  if (process.geteuid?.() === 0)
    expect(await diagnoseAll(context)).toEqual([['debootstrap', expect.any(String), true, '', [], [], [10], true]])
  fs.chmodSync(path.join(definition, 'create'), 0o775)
  const [[, , valid, why] = []] = await diagnoseAll(context)
  expect([valid, why]).toEqual([false, expect.stringMatching(/may be changed by others than root$/)])
  await expect(
    osValidate(context, { os: 'debootstrap', parameters: {}, checks: ['parameters'], forceVariant: false }),
  ).rejects.toThrow(/^OS 'debootstrap' is not usable: .* may be changed by others than root$/)
})

test('usable and broken definitions are diagnosed in the order of the search path', async () => {
  putOs('noop', '5\n10\n')
  putOs('full', '20\n15\n10\n5\n', full)
  putOs('old', '5\n')
  putOs('no-rename', '10\n', { rename: '' })
  await expect(diagnoseAll(node.context)).resolves.toEqual([
    ['full', '/srv/ganeti/os/full', true, '', ['default', 'big'], [['filesystem', 'The filesystem type'], ['size', '']], [20, 15, 10, 5], true], // prettier-ignore
    ['no-rename', '/srv/ganeti/os/no-rename', false, 'there is no executable script rename', [], [], [], true],
    ['noop', '/srv/ganeti/os/noop', true, '', [], [], [5, 10], true],
    ['old', '/srv/ganeti/os/old', false, expect.stringContaining('no common interface version'), [], [], [], true],
  ])
})

test('a list that is a pipe, or far too long, breaks its definition and holds up nobody', async () => {
  putOs('pipe', '15\n')
  execFileSync('mkfifo', [node.paths.local('/srv/ganeti/os/pipe/variants.list')])
  putOs('long', '15\n', { 'variants.list': 'x'.repeat(DEFINITION_BYTES_MAX + 1) })
  const found = await diagnoseAll(node.context)
  expect(found.map(([name, , valid, why]) => [name, valid, why])).toEqual([
    ['long', false, `variants.list cannot be read: it has more than ${DEFINITION_BYTES_MAX} bytes`],
    ['pipe', false, 'variants.list cannot be read: it is no plain file'],
  ])
})

test('a script that says too much does not fill the disk', async () => {
  putOs('full', '20\n', { ...full, create: '#!/bin/sh\nyes | head -c 20000000\n' })
  await osCreate(node.context, { ...instance, disks_info: [] }, { reinstall: false, debug: 0 })
  const folder = path.join(node.paths.logDir, 'os')
  const [log = ''] = fs.readdirSync(folder)
  expect(fs.statSync(path.join(folder, log)).size).toBe(OS_LOG_BYTES_MAX)
})

test('a create script sees the instance, its parameters and its disks, and logs to a file', async () => {
  putOs('full', '20\n', full)
  const [disk] = instance.disks_info
  if (disk) await new Disks(node.context).create(disk, 1)
  await osCreate(node.context, instance, { reinstall: true, debug: 1 })
  const logs = node.paths.local('/var/log/ganeti/os')
  const [log = ''] = fs.readdirSync(logs)
  expect(log).toMatch(/^add-full\+big-inst1\.example\.com-\d{4}-\d\d-\d\d_\d\d_\d\d_\d\d\.log$/)
  const observed = fs.readFileSync(path.join(logs, log), 'utf8').split('\n')
  const file = node.paths.local('/srv/ganeti/file-storage/inst1.example.com/d')
  expect(observed).toEqual(
    expect.arrayContaining([
      'OS_API_VERSION=20',
      'OS_NAME=full',
      'OS_VARIANT=big',
      'DEBUG_LEVEL=1',
      'OSP_FILESYSTEM=ext4',
      'OSP_A_B=x',
      'OSP_PASSWORD=secret',
      'INSTANCE_NAME=inst1.example.com',
      'INSTANCE_REINSTALL=1',
      'INSTANCE_SECONDARY_NODES=a b',
      'HYPERVISOR=kvm',
      'INSTANCE_HYPERVISOR=kvm',
      'DISK_COUNT=1',
      `DISK_0_PATH=${file}`,
      'DISK_0_BACKEND_TYPE=file:loop',
      'DISK_0_FRONTEND_TYPE=paravirtual',
      'NIC_COUNT=1',
      'NIC_0_MAC=aa:00:00:3a:b4:f7',
      'NIC_0_BRIDGE=br0',
      'INSTANCE_BE_auto_balance=True',
      'INSTANCE_HV_kernel_path=',
      'PATH=/sbin:/bin:/usr/sbin:/usr/bin',
      `in ${node.paths.local('/srv/ganeti/os/full')}`,
    ]),
  )
})

test('a definition of interface 10 sees what this interface has, and the hypervisor by its new name', async () => {
  putOs('full', '10\n', full)
  const [disk] = instance.disks_info
  if (disk) await new Disks(node.context).create(disk, 1)
  const named = { ...instance, os: 'full' }
  await osCreate(node.context, named, { reinstall: true, debug: 1 })
  const logs = node.paths.local('/var/log/ganeti/os')
  const [log = ''] = fs.readdirSync(logs)
  const lines = fs.readFileSync(path.join(logs, log), 'utf8').split('\n')
  const names = lines.flatMap((line) => /^([A-Z][A-Za-z0-9_]+)=/.exec(line)?.[1] ?? [])
  const shell = ['LANG', 'PWD', 'SHLVL', '_', 'PATH']
  expect(names.filter((name) => !shell.includes(name)).sort()).toEqual([
    ...['DEBUG_LEVEL', 'DISK_0_ACCESS', 'DISK_0_BACKEND_TYPE', 'DISK_0_FRONTEND_TYPE', 'DISK_0_PATH', 'DISK_COUNT'],
    ...['HYPERVISOR', 'INSTANCE_HYPERVISOR', 'INSTANCE_NAME', 'INSTANCE_OS', 'INSTANCE_REINSTALL'],
    ...['NIC_0_BRIDGE', 'NIC_0_IP', 'NIC_0_MAC', 'NIC_COUNT', 'OS_API_VERSION'],
  ])
})

test('a failing script fails with the end of its log', async () => {
  putOs('full', '10\n', { rename: '#!/bin/sh\necho "from $OLD_INSTANCE_NAME"\nexit 3\n' })
  const text = /OS rename script failed \(exited with exit code 3\)[^\n]*\nfrom old\.example\.com$/
  await expect(osRename(node.context, { ...instance, disks_info: [] }, 'old.example.com', 0)).rejects.toThrow(text)
})

test.each([
  ['full+big', { filesystem: 'ext4' }, undefined],
  ['full+huge', {}, "OS 'full' has no variant 'huge', only one of default, big"],
  ['full', {}, "OS 'full' needs a variant"],
  ['plain+x', {}, "OS 'plain' has no variants"],
  ['full+big', { nosuch: '1' }, "Parameters that OS 'full' does not have: nosuch; -O NAME=default removes one"],
  ['full+big', { filesystem: 'xfs' }, 'checked parameters: xfs'],
  ['missing', {}, 'Directory for OS missing not found in search path'],
  ['../os/full+big', {}, 'not found in search path'],
])('%s with parameters %j', async (os, parameters, problem) => {
  putOs('full', '20\n', full)
  putOs('plain', '15\n')
  const check = osValidate(node.context, { os, parameters, checks: ['parameters'], forceVariant: false })
  await (problem === undefined ? expect(check).resolves.toBeUndefined() : expect(check).rejects.toThrow(problem))
})

test('a variant that is no plain name reaches no script, even if it is forced', async () => {
  putOs('full', '20\n', full)
  const forced = (variant: string) =>
    osValidate(node.context, {
      ...{ os: `full+${variant}`, parameters: { filesystem: 'ext4' }, checks: ['parameters'], forceVariant: true },
    })
  await expect(forced('my.own-1+x')).resolves.toBeUndefined()
  for (const variant of ['../../x', 'a/b', '..', '', '-x', 'a b', 'a\nb', 'a\0b']) {
    await expect(forced(variant)).rejects.toThrow("Invalid name of a variant of OS 'full'")
    const os = { ...instance, os: `full+${variant}`, disks_info: [] }
    await expect(osCreate(node.context, os, { reinstall: false, debug: 0 })).rejects.toThrow(
      'Invalid name of a variant',
    )
  }
})

test('storage providers are diagnosed', async () => {
  const base = '/srv/ganeti/extstorage'
  for (const script of ['create', 'remove', 'grow', 'attach', 'detach', 'setinfo', 'verify'])
    node.put(`${base}/good/${script}`, SCRIPT, 0o755)
  node.put(`${base}/good/parameters.list`, 'pool The pool\n')
  node.put(`${base}/bad/create`, SCRIPT, 0o755)
  await expect(diagnoseProviders(node.context)).resolves.toEqual([
    ['bad', `${base}/bad`, false, 'there is no executable script remove', []],
    ['good', `${base}/good`, true, '', [['pool', 'The pool']]],
  ])
})
