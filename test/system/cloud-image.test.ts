// An instance made from a disk image, as a user makes it: what its cloud-init is told follows its parameters, NICs and name, and its
// secrets do not outlive their use.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'
import { OS_DIRECTORY } from '../support/hypervisor'
import { filesOfIso } from '../support/iso-files'
import { qemuPresent, qemuTest } from '../support/needs'

let cluster: EmbeddedCluster
let image: string
beforeAll(async () => {
  if (!qemuPresent) return
  cluster = await startCluster(['--hypervisor', 'kvm'])
  image = path.join(cluster.root, 'tiny.img')
  const octal = fs.readFileSync(path.join(OS_DIRECTORY, 'boot.octal'), 'utf8').match(/[0-7]{3}/g) ?? []
  fs.writeFileSync(image, Buffer.from(octal.map((digits) => Number.parseInt(digits, 8))))
  await ok('network add --network 198.51.100.0/24 --gateway 198.51.100.1 front')
  await ok('network connect --nic-parameters mode=bridged,link=no-such-br0 front')
})
afterAll(() => (qemuPresent ? cluster.remove() : undefined))

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGk2Ynp0c2VjcmV0c2VjcmV0c2VjcmV0c2Vj ops@desk'
const HASH = `$6$saltsalt$${'x'.repeat(86)}`
const common = '-t sharedfile --disk 0:size=16m -B memory=32m -n node1'

qemuTest('a definition for cloud images is there, and lists what it can be told', async () => {
  expect(await ok('os list --no-headers')).toMatch(/^cloud-image$/m)
  const info = await ok('os info cloud-image')
  for (const name of ['image', 'hostname', 'ssh_authorized_keys', 'user_data']) expect(info).toContain(`- ${name}`)
})

qemuTest('a value that cloud-init would not understand is refused by name before there is an instance', async () => {
  const add = await gnt(...common.split(' '), '-o', 'cloud-image', '-O', `image=${image},user=A B`, 'web0')
  expect(add.code).not.toBe(0)
  expect(add.stderr).toContain("OS 'cloud-image': OS parameter user must be the name of a user")
  expect(await ok('instance list --no-headers -o name')).not.toContain('web0')
})

qemuTest('an instance boots its image, and is told its name, its key and its address', async () => {
  const values = `image=${image},ssh_authorized_keys=${KEY}`
  const net = ['--net', '0:network=front,ip=198.51.100.9']
  const added = await gnt(...common.split(' '), ...net, '-o', 'cloud-image', '-O', values, 'web1')
  expect(added).toMatchObject({ code: 0 })
  expect(seed('node1')['meta-data']).toEqual({
    'instance-id': await uuid(),
    'local-hostname': 'web1',
    'public-keys': [KEY],
  })
  expect(seed('node1')['network-config']).toMatchObject({
    ethernets: { eth0: { addresses: ['198.51.100.9/24'], gateway4: '198.51.100.1' } },
  })
  expect(await ok('instance list --no-headers -o status web1')).toBe('running')
})

qemuTest('the seed goes with the running guest, and a NIC that is plugged in is in the next one', async () => {
  const [before] = [fs.readFileSync(seedFile('node1'))]
  await ok('instance migrate -f -n node2 web1')
  expect(fs.readFileSync(seedFile('node2')).equals(before)).toBe(true)
  expect(fs.existsSync(seedFile('node1'))).toBe(false)
  await ok('instance modify --net add:network=front,ip=198.51.100.10 web1')
  expect(fs.readFileSync(seedFile('node2')).equals(before)).toBe(true)
  await ok('instance reboot web1')
  expect(seed('node2')['network-config']).toMatchObject({
    ethernets: { eth1: { addresses: ['198.51.100.10/24'] } },
  })
  await ok('instance shutdown web1')
  expect(fs.existsSync(seedFile('node2'))).toBe(false)
})

qemuTest('a new name is told, and cloud-init begins anew after a reinstallation only', async () => {
  const id = await uuid()
  await ok('instance rename web1 www1')
  await ok('instance startup www1')
  expect(seed('node2', 'www1')['meta-data']).toMatchObject({ 'instance-id': id, 'local-hostname': 'www1' })
  await ok('instance shutdown www1')
  const secret = ['--os-parameters-secret', `password_hash=${HASH}`]
  expect(await cluster.gnt('instance', 'reinstall', '-f', ...secret, 'www1')).toMatchObject({ code: 0 })
  await ok('instance startup www1')
  const first = seed('node2', 'www1')
  expect(first['user-data']).toContain(HASH)
  await ok('instance reboot www1')
  const second = seed('node2', 'www1')
  expect(second['user-data']).not.toContain(HASH)
  expect(second['meta-data']).toEqual(first['meta-data'])
  expect(second['meta-data']).not.toMatchObject({ 'instance-id': id })
})

qemuTest('an export and its import keep what is told, under an identity of its own', async () => {
  await ok('instance shutdown www1')
  await ok('backup export -n node3 www1')
  await ok('backup import -t sharedfile -n node3 --src-node=node3 --src-dir=www1 --net 0:mac=auto web2')
  await ok('instance startup web2')
  expect(seed('node3', 'web2')['meta-data']).toEqual({
    'instance-id': await ok('instance list --no-headers -o uuid web2'),
    'local-hostname': 'web2',
    'public-keys': [KEY],
  })
})

qemuTest('nothing of it is left when the instances are gone', async () => {
  await ok('instance remove -f www1')
  await ok('instance remove -f web2')
  for (const node of ['node1', 'node2', 'node3'])
    for (const directory of ['kvm-hypervisor/seed', 'cloud-init'])
      expect(listed(runDirectory(node, directory))).toEqual([])
})

const runDirectory = (node: string, name: string) =>
  path.join(cluster.root, `${node}.gantry.local/var/run/ganeti`, name)
const seedFile = (node: string, name = 'web1') => path.join(runDirectory(node, 'kvm-hypervisor/seed'), `${name}.iso`)
const listed = (directory: string): string[] => (fs.existsSync(directory) ? fs.readdirSync(directory) : [])
const uuid = () => ok('instance list --no-headers -o uuid web1')

function seed(node: string, name?: string) {
  const { files } = filesOfIso(fs.readFileSync(seedFile(node, name)))
  const parsed = (file: string): unknown => JSON.parse(files[file] ?? '')
  return {
    'meta-data': parsed('meta-data'),
    'network-config': parsed('network-config'),
    'user-data': files['user-data'] ?? '',
  }
}

const gnt = (...words: string[]) => cluster.gnt('instance', 'add', ...words)

async function ok(command: string): Promise<string> {
  const { code, stdout, stderr } = await cluster.gnt(...command.split(' '))
  if (code !== 0) throw new Error(`gnt ${command} ended with ${code}:\n${stdout}${stderr}`)
  return stdout.trim()
}
