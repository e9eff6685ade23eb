// gnt-cluster init up to a whole cluster below a virtual root; nothing of the machine is asked but its loopback addresses.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import type { NewNode } from '../../../../src/cli/command'
import { loadConfig } from '../../../../src/config/upgrade'
import { systemDisk } from '../../../../src/lib/disk'
import { thisMachine } from '../../../../src/lib/machine'
import { pathsOf } from '../../../../src/lib/paths'
import { systemRandom as random } from '../../../../src/lib/random'
import type { Cluster } from '../../../../src/model/config'
import { OpExecError } from '../../../../src/model/errors'
import { firstFields } from '../../../../src/operations/cluster/set-params/first-fields'
import { FakeMaster } from '../../../support/fake-master'
import { runCli } from '../../../support/run-cli'

const NODE = 'node1.example.com'
const NAMES = [`127.0.112.1\t${NODE} node1`, '127.0.112.254\tcluster.example.com', '192.0.2.1\tfar.example.com']
/** Too long for any name server: none is asked. */
const UNKNOWN = `${`${'x'.repeat(63)}.`.repeat(3)}${'x'.repeat(62)}`
const DISKLESS = '--no-ssh-init --enabled-disk-templates=diskless --enabled-hypervisors=fake --master-netdev=lo'

let directory: string
let newNode: NewNode
const paths = () => newNode.paths

beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-init-'))
  newNode = {
    ...{ paths: pathsOf(path.join(directory, NODE), NODE), disk: systemDisk, random },
    ...thisMachine,
    volumeGroups: async () => [
      { name: 'xenvg', size_mib: 50_000 },
      { name: 'small', size_mib: 100 },
    ],
    missingPrograms: async (programs) => Object.fromEntries(programs.map((one) => [one, `package-of-${one}`])),
    requireDrbd: async () => undefined,
    storageDirectory: async (name) => paths().local(name),
    firstFields: (input, ipVersion) => firstFields(input, { now_s: 1, random }, ipVersion),
  }
  fs.mkdirSync(paths().local('/etc'), { recursive: true })
  fs.writeFileSync(paths().local('/etc/hosts'), `${NAMES.join('\n')}\n`)
})
afterEach(() => fs.rmSync(directory, { recursive: true }))

const init = (options: string, name = 'cluster.example.com') =>
  runCli(new FakeMaster(), ['gnt-cluster', 'init', ...options.split(' '), name], { newNode })

function made(): Cluster {
  return loadConfig(fs.readFileSync(paths().configFile, 'utf8'), random).config.cluster
}

async function clusterOf(options: string): Promise<Cluster> {
  expect(await init(`${DISKLESS} ${options}`)).toMatchObject({ exit: 0, stderr: '' })
  return made()
}

const filesBelow = (folder: string) =>
  fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())

describe('makes', () => {
  test('a cluster with the defaults of Ganeti, and says how its daemons are started', async () => {
    const { stdout } = await init(DISKLESS)
    expect(stdout).toContain(`Cluster cluster.example.com is made, and this node, ${NODE}, is its master.\n`)
    expect(stdout).toContain(`  GANETI_ROOTDIR=${paths().root} GANETI_HOSTNAME=${NODE} gantryd node\n`)
    expect(made()).toMatchObject({
      ...{ cluster_name: 'cluster.example.com', master_ip: '127.0.112.254', master_netdev: 'lo', master_netmask: 32 },
      ...{ enabled_hypervisors: ['fake'], enabled_disk_templates: ['diskless'], candidate_pool_size: 10 },
      ...{ mac_prefix: 'aa:00:00', modify_etc_hosts: true, modify_ssh_setup: false, default_iallocator: 'hail' },
      ...{ ssh_key_type: 'rsa', ssh_key_bits: 2048, uid_pool: [] },
      hv_state_static: { fake: { cpu_node: 1, cpu_total: 1, mem_hv: 0, mem_node: 0, mem_total: 0 } },
    })
    expect(made().volume_group_name).toBeUndefined()
    expect(made().ipolicy['disk-templates']).toEqual(['diskless'])
    for (const file of [
      paths().serverCert,
      paths().clientCert,
      paths().rapiCert,
      paths().spiceCert,
      paths().spiceCaCert,
      paths().hmacKey,
      paths().domainSecret,
    ])
      expect([file, fs.statSync(file).mode & 0o077 & ~0o040]).toEqual([file, 0])
    expect(fs.readFileSync(paths().ssconf('master_node'), 'utf8').trim()).toBe(NODE)
    expect(fs.readFileSync(paths().local('/etc/hosts'), 'utf8')).toContain(`127.0.112.1\t${NODE} node1\n`)
  })

  test('what was given', async () => {
    const input = [
      '-B vcpus=2,memory=1g -N mode=routed,link=br7 --node-parameters oob_program=/bin/oob -C 3 -m 02:00:11',
      '--master-netmask 24 --uid-pool 100-200,300 -I hail --default-iallocator-params a=1 --prealloc-wipe-disks yes',
      '--maintain-node-health yes --use-external-mip-script yes --user-shutdown yes --no-etc-hosts -s 127.0.112.2',
      '--file-storage-dir /srv/files --install-image /img --zeroing-image /zero --compression-tools gzip,lzop',
      '--ssh-key-type ecdsa --ipolicy-vcpu-ratio 2 --specs-mem-size min=64m,std=1g --specs-cpu-count max=32',
      '-D drbd:metavg=other --hypervisor-state fake:mem_node=7',
    ]
    const cluster = await clusterOf(input.join(' '))
    expect(cluster).toMatchObject({
      beparams: { default: { vcpus: 2, minmem: 1024, maxmem: 1024, always_failover: false } },
      nicparams: { default: { mode: 'routed', link: 'br7', vlan: '' } },
      ndparams: { oob_program: '/bin/oob', spindle_count: 1 },
      diskparams: { drbd: { metavg: 'other', 'resync-rate': 61440 } },
      ...{ candidate_pool_size: 3, mac_prefix: '02:00:11', master_netmask: 24 },
      uid_pool: [
        [100, 200],
        [300, 300],
      ],
      ...{ default_iallocator_params: { a: '1' }, prealloc_wipe_disks: true, maintain_node_health: true },
      ...{ use_external_mip_script: true, enabled_user_shutdown: true, modify_etc_hosts: false },
      ...{ file_storage_dir: '/srv/files', install_image: '/img', zeroing_image: '/zero' },
      ...{ compression_tools: ['gzip', 'lzop'], ssh_key_type: 'ecdsa', ssh_key_bits: 384 },
      ipolicy: {
        minmax: [{ min: { 'memory-size': 64, 'cpu-count': 1 }, max: { 'memory-size': 32768, 'cpu-count': 32 } }],
        std: { 'memory-size': 1024, 'cpu-count': 1 },
        'vcpu-ratio': 2,
      },
      hv_state_static: { fake: { mem_node: 7, cpu_node: 1 } },
    })
    const { nodes } = loadConfig(fs.readFileSync(paths().configFile, 'utf8'), random).config
    expect(Object.values(nodes)).toMatchObject([
      { name: NODE, primary_ip: '127.0.112.1', secondary_ip: '127.0.112.2', master_candidate: true },
    ])
  })

  test('a cluster of IPv6', async () => {
    fs.appendFileSync(paths().local('/etc/hosts'), `::1\t${NODE} node1\n2001:db8::254\tcluster.example.com\n`)
    const cluster = await clusterOf('--primary-ip-version 6 -s 127.0.112.2')
    expect(cluster).toMatchObject({ master_ip: '2001:db8::254', primary_ip_family: 10, master_netmask: 128 })
    const { nodes } = loadConfig(fs.readFileSync(paths().configFile, 'utf8'), random).config
    expect(Object.values(nodes)).toMatchObject([{ primary_ip: '::1', secondary_ip: '127.0.112.2' }])
    expect(fs.readFileSync(paths().ssconf('primary_ip_family'), 'utf8').trim()).toBe('10')
  })

  test('hypervisor parameters, directories of enabled templates, and a volume group', async () => {
    const options =
      '--no-ssh-init --enabled-disk-templates=plain,file --enabled-hypervisors=kvm --master-netdev=lo -H kvm:kernel_path=,acpi=no'
    expect(await init(options.replace('acpi=no', 'acpi=false'))).toMatchObject({ exit: 0, stderr: '' })
    expect(made().hvparams['kvm']).toMatchObject({ kernel_path: '', acpi: false, boot_order: 'disk' })
    expect(made().volume_group_name).toBe('xenvg')
    expect(fs.statSync(paths().local('/srv/ganeti/file-storage')).isDirectory()).toBe(true)
  })

  test('the bounds of the policy from --ipolicy options', async () => {
    const spec = (size: number) => `memory-size=${size},cpu-count=1,disk-count=1,disk-size=1g,nic-count=1,spindle-use=1`
    const cluster = await clusterOf(
      `--ipolicy-bounds-specs min:${spec(64)}/max:${spec(128)} --ipolicy-std-specs memory-size=100 --ipolicy-disk-templates diskless,file`,
    )
    expect(cluster.ipolicy).toMatchObject({
      minmax: [{ min: { 'memory-size': 64, 'disk-size': 1024 }, max: { 'memory-size': 128 } }],
      std: { 'memory-size': 100, 'cpu-count': 1 },
      'disk-templates': ['diskless'],
    })
  })
})

describe('refuses', () => {
  test.each([
    [`${DISKLESS} --primary-ip-version 6`, 'When using a IPv6 primary address, a valid IPv4 address must be given'],
    [`${DISKLESS} --primary-ip-version 6 -s ::1`, 'Secondary IP address (::1) has to be a valid IPv4 address.'],
    [`${DISKLESS} --primary-ip-version 5`, 'Invalid primary ip version: 5.'],
    [`${DISKLESS} --primary-ip-version x`, "Invalid primary ip version value: 'x'"],
    [`${DISKLESS} -s 192.0.2.7`, 'You gave 192.0.2.7 as secondary IP, but it does not belong to this host.'],
    [`${DISKLESS} -s ::1`, 'Secondary IP address (::1) has to be a valid IPv4 address.'],
    [
      `${DISKLESS} --master-netdev nosuch0`,
      'Invalid master netdev given (nosuch0): \'Device "nosuch0" does not exist.\'',
    ],
    [`${DISKLESS} --master-netmask 33`, 'CIDR netmask (33) not valid'],
    [`${DISKLESS} -m zz:00`, "Invalid MAC address prefix 'zz:00'"],
    [`${DISKLESS} --enabled-hypervisors nosuch`, 'fails validation'],
    [`${DISKLESS} --enabled-disk-templates plain --vg-name=`, 'LVM disk templates are enabled, but vg name not set.'],
    [
      `${DISKLESS} --enabled-disk-templates plain --vg-name small`,
      "Error: volume group 'small' too small (20480 MiB required, 100 MiB found)",
    ],
    [
      `${DISKLESS} --enabled-disk-templates plain --vg-name none`,
      "Error: volume group 'none' missing: it has xenvg, small; vgcreate makes another one",
    ],
    [
      `${DISKLESS} --enabled-disk-templates drbd --vg-name xenvg --drbd-usermode-helper=/bin/true`,
      "Disk template 'drbd' cannot be enabled: this node has no program drbdsetup; install the Debian package package-of-drbdsetup",
    ],
    [
      `${DISKLESS} --enabled-disk-templates drbd --drbd-usermode-helper=`,
      'Unsetting the drbd usermode helper while enabling DRBD is not allowed.',
    ],
    [
      `${DISKLESS} --enabled-disk-templates rbd,diskless`,
      "Disk template 'rbd' cannot be enabled: this node has no program rbd; install the Debian package package-of-rbd",
    ],
    [`${DISKLESS} -I nosuch`, "Invalid default iallocator script 'nosuch' specified"],
    [
      `${DISKLESS} --ssh-key-type dsa --ssh-key-bits 2048`,
      'Invalid key type and bit size combination: dsa with 2048 bits',
    ],
    [`${DISKLESS} -B nosuch=1`, "Unknown parameter 'nosuch'"],
    [`${DISKLESS} --specs-mem-size min=x`, "'min' (value x) is not a valid size"],
    [
      `${DISKLESS} --specs-mem-size min=64 --ipolicy-std-specs cpu-count=1`,
      'A --specs-xxx option cannot be specified together with any',
    ],
    [`${DISKLESS} --uid-pool 9-3`, 'Lower user-id range boundary value (9) is larger than higher boundary value (3)'],
  ])('%s', async (options, text) => {
    const { exit, stderr } = await init(options)
    expect([exit, stderr]).toEqual([1, expect.stringContaining(text)])
    expect(fs.readdirSync(paths().root)).toEqual(['etc'])
  })

  test('names and addresses that are not right', async () => {
    expect((await init(DISKLESS, UNKNOWN)).stderr).toContain(`The given name (${UNKNOWN}) does not resolve`)
    fs.writeFileSync(paths().local('/etc/hosts'), `192.0.2.1 ${NODE}\n`)
    expect((await init(DISKLESS)).stderr).toContain(
      "this host's name resolves to 192.0.2.1,\nbut this ip address does not",
    )
  })

  test('what is a cluster already, or what is left of one', async () => {
    expect((await init(DISKLESS)).exit).toBe(0)
    expect((await init(DISKLESS)).stderr).toContain(
      'error type: wrong_state, error details:\nCluster is already initialised\n',
    )
    fs.rmSync(paths().configFile)
    expect((await init(DISKLESS)).stderr).toMatch(
      /contains non-directory entries like \S+\. Remove left-overs of an old cluster/,
    )
  })
})

test('a failure half way leaves nothing behind but what was there', async () => {
  const before = fs.readFileSync(paths().local('/etc/hosts'), 'utf8')
  fs.mkdirSync(path.dirname(paths().rapiUsers), { recursive: true })
  fs.writeFileSync(paths().rapiUsers, 'someone pw write\n')
  const disk = { ...systemDisk }
  disk.write = async (file, ...rest) => {
    if (file === paths().configFile) throw new OpExecError('No space left on device')
    return systemDisk.write(file, ...rest)
  }
  newNode = { ...newNode, disk }
  expect(await init(DISKLESS)).toMatchObject({ exit: 1, stderr: expect.stringContaining('No space left on device') })
  expect(
    filesBelow(paths().root)
      .map(({ name }) => name)
      .sort(),
  ).toEqual(['hosts', 'users'])
  expect(fs.readFileSync(paths().local('/etc/hosts'), 'utf8')).toBe(before)
  newNode = { ...newNode, disk: systemDisk }
  expect((await init(DISKLESS)).exit).toBe(0)
  expect(fs.readFileSync(paths().rapiUsers, 'utf8')).toBe('someone pw write\n')
})

test('a machine whose own name is not one that nodes have is no node', async () => {
  newNode = { ...newNode, paths: { ...paths(), root: '', hostname: 'Node1.example.com' } }
  const { exit, stderr } = await init(DISKLESS)
  expect([exit, stderr]).toEqual([
    1,
    expect.stringContaining(`This host cannot be a node: the machine calls itself 'Node1`),
  ])
  expect(stderr).toContain('hostnamectl set-hostname node1.example.com')
})

test('a DRBD that cannot be used is refused by its version, and is not proposed', async () => {
  const missing = async () => ({})
  const requireDrbd = () => Promise.reject(new Error('DRBD 9.2.8 is loaded on node node1: only 8.4 is supported'))
  const helper = Buffer.from('/bin/true\n')
  const disk = {
    ...systemDisk,
    read: async (file: string) => (file.includes('/drbd/') ? helper : systemDisk.read(file)),
  }
  newNode = { ...newNode, disk, missingPrograms: missing, requireDrbd }
  const desired = `${DISKLESS} --enabled-disk-templates drbd --vg-name xenvg --drbd-usermode-helper=/bin/true`
  await expect(init(desired)).resolves.toMatchObject({
    exit: 1,
    stderr: expect.stringContaining('DRBD 9.2.8 is loaded on node node1') as unknown,
  })
  const { stdout, exit } = await init('--no-ssh-init --enabled-hypervisors=fake --master-netdev=lo')
  expect([exit, stdout]).toEqual([0, expect.stringContaining('Disk templates: plain\n')])
})
