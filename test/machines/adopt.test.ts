// A cluster that Debian's Ganeti has made on two machines is taken over while its guests run, worked with, and given back. The tests go on
// where the one before has left off.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { testWith } from '../support/needs'
import { CLUSTER, Machines, NEEDED, SHARED, missingForGaneti, nameOf } from './machines'
import { buildGantry, buildNode } from './packages'

jest.setTimeout(600_000)
const present = missingForGaneti.length === 0
const adoptTest = testWith(present, NEEDED)
const [MASTER, OTHER] = [nameOf(1), nameOf(2)]
const PACKAGES = '/root/packages'
/** No hypervisor of this machine is tried, so that guests can move to each kind of node. */
const HYPERVISOR =
  'kvm:kernel_path=,initrd_path=,kernel_args=,kvm_path=/usr/bin/qemu-system-x86_64,kvm_flag=disabled,vnc_bind_address='
const SMALL = 'min:disk-size=0,cpu-count=1,disk-count=0,memory-size=1,nic-count=0,spindle-use=0'
const LARGE = 'max:disk-size=1048576,cpu-count=8,disk-count=16,memory-size=32768,nic-count=8,spindle-use=12'

let machines: Machines
let folder: string
beforeAll(async () => {
  if (!present) return
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ga-'))
  machines = new Machines()
  await Promise.all([1, 2].map((machine) => machines.start(machine, 'ganeti')))
})
afterAll(async () => {
  await machines?.remove()
  if (folder !== undefined) fs.rmSync(folder, { recursive: true })
})

const report = (text: string) => void process.stdout.write(`${text}\n`)
const onMaster = (line: string) => machines.run(1, line)
const addInstance = (name: string, machine: number) =>
  onMaster(
    `gnt-instance add -t sharedfile --disk 0:size=16m -o noop -B memory=16m,vcpus=1 -n ${nameOf(machine)} --no-nics ` +
      `--no-name-check --no-ip-check ${name}`,
  )
const guestPid = (machine: number, name: string) => machines.run(machine, `cat /run/ganeti/kvm-hypervisor/pid/${name}`)
const isThere = (machine: number, pid: string) => machines.run(machine, `grep -q qemu /proc/${pid.trim()}/cmdline`)
const product = async (machine: number) =>
  (await machines.attempt(machine, 'test -e /usr/sbin/gantryd')).code === 0 ? 'gantry' : 'ganeti'
const jobs = async () => {
  const lines = (await onMaster('gnt-job list --no-headers -o id,status,summary')).trim().split('\n')
  return lines.map((line) => line.trim())
}
/** Files of Ganeti's package that do harm without it. */
const CONFFILES = '/etc/ganeti/kvm-ifup-os /etc/molly-guard/run.d/15-ganeti'
const adopt = (words: string) => machines.attempt(1, `gantry-adopt --yes-do-it ${words}`)

let pids: string[]
let history: string[]

adoptTest('a real Ganeti makes a cluster with guests', async () => {
  const ours = buildGantry(folder, '0.1.0')
  const node = machines.share(buildNode(folder))
  await Promise.all(
    [1, 2].map((machine) =>
      machines.run(
        machine,
        `dpkg -i ${node} && mkdir -p -m 700 /root/.ssh && echo ${SHARED} > /etc/ganeti/file-storage-paths`,
      ),
    ),
  )
  const shared = ours.map((file) => machines.share(file))
  await onMaster(`mkdir ${PACKAGES} && mv ${shared.join(' ')} ${PACKAGES} && rm ${node}`)
  await onMaster(
    `dpkg -i ${PACKAGES}/gantry-adopt_*.deb && rm ${PACKAGES}/gantry-adopt_*.deb ${PACKAGES}/gantry-doc_*.deb`,
  )
  await onMaster(
    `gnt-cluster init --enabled-hypervisors=kvm --enabled-disk-templates=sharedfile -H '${HYPERVISOR}' ` +
      `--shared-file-storage-dir=${SHARED} --master-netdev=br0 --nic-parameters link=br0 ` +
      `--ipolicy-bounds-specs=${SMALL}/${LARGE} ${CLUSTER}`,
  )
  const key = (await onMaster('cat /root/.ssh/id_rsa.pub')).trim()
  await machines.run(2, `echo '${key}' > /root/.ssh/authorized_keys`)
  await onMaster(`gnt-node add --no-ssh-key-check ${OTHER} < /dev/null`)
  await addInstance('vm1', 1)
  await addInstance('vm2', 2)
  await onMaster('gnt-cluster add-tags kept')
  pids = [await guestPid(1, 'vm1'), await guestPid(2, 'vm2')]
  history = await jobs()
})

adoptTest('a check tells of every node, and changes nothing', async () => {
  const { code, output } = await machines.attempt(1, 'gantry-adopt --check')
  expect({ code, output }).toMatchObject({ code: 0, output: expect.not.stringMatching('Problem') as string })
  expect(output).toMatch(/node1\S+ master +ganeti 3\.0\.2/)
  expect(output).toMatch(/node2\S+ candidate +ganeti 3\.0\.2/)
  await machines.run(2, 'mv /usr/bin/node /usr/bin/node.away')
  const without = await machines.attempt(1, 'gantry-adopt --check')
  expect([without.code, without.output]).toEqual([
    1,
    expect.stringContaining(`Problem: ${OTHER}: /usr/bin/node is not there`),
  ])
  await machines.run(2, 'mv /usr/bin/node.away /usr/bin/node')
  expect(await jobs()).toEqual(history)
})

adoptTest('a node on which it fails goes back, and the master works with it', async () => {
  // dpkg cannot unpack there.
  await machines.run(2, 'mkdir /usr/lib/gantry && mount -t tmpfs -o ro none /usr/lib/gantry')
  const { code, output } = await adopt(`--packages=${PACKAGES}`)
  expect([code, output]).toEqual([1, expect.stringContaining(`It runs Ganeti as before. These have: ${MASTER}.`)])
  report(/The cluster was without.*|daemons were away for .*/.exec(output)?.[0] ?? output)
  expect([await product(1), await product(2)]).toEqual(['gantry', 'ganeti'])
  await Promise.all([isThere(1, pids[0] ?? ''), isThere(2, pids[1] ?? '')])
  expect((await jobs()).slice(0, history.length)).toEqual(history)
  // Guests go from each kind of node to the other, under our master.
  await onMaster('gnt-instance migrate -f vm1 && gnt-instance migrate -f vm2')
  expect(await onMaster('gnt-instance list --no-headers -o name,pnode,status')).toMatch(
    /vm1 +node2.*running\nvm2 +node1.*running/,
  )
  pids = [await guestPid(2, 'vm1'), await guestPid(1, 'vm2')]
})

adoptTest('a real Ganeti is the master for a while, with our node under it', async () => {
  const onOther = (line: string) => machines.run(2, line)
  await onOther('gnt-cluster master-failover')
  expect(await onOther('gnt-cluster getmaster')).toBe(`${OTHER}\n`)
  await onOther('gnt-instance migrate -f vm1 && gnt-instance migrate -f vm2 && gnt-instance add-tags vm1 seen')
  expect(await onOther('gnt-instance list --no-headers -o name,pnode,status')).toMatch(
    /vm1 +node1.*running\nvm2 +node2.*running/,
  )
  // It has each node make its own client certificate, over SSH: first with the cluster's certificate as it is, then with a new one.
  const digests = () => machines.run(1, 'cat /var/lib/ganeti/ssconf_master_candidates_certs')
  for (const what of ['--new-node-certificates', '--new-cluster-certificate']) {
    const before = await digests()
    await onOther(`gnt-cluster renew-crypto --force ${what}`)
    const after = await digests()
    expect(after.split('\n').filter((line) => line !== '' && before.includes(line))).toEqual([])
    const own = await machines.run(1, 'openssl x509 -noout -fingerprint -sha1 -in /var/lib/ganeti/client.pem')
    expect(after).toContain(own.trim().replace(/^.*=/, ''))
    await onOther('gnt-instance migrate -f vm1')
    await onOther('gnt-instance migrate -f vm1')
  }
  // A real Ganeti complains of what containers lack, and of the systems that come with our package.
  const complaints = (await machines.attempt(2, 'gnt-cluster verify')).output.split('\n')
  expect(complaints.filter((line) => /ERROR: (?!.*(procfs filesystem|cloud-image|gantry-tiny))/.test(line))).toEqual([])
  await onMaster('gnt-cluster master-failover')
  expect(await onMaster('gnt-cluster getmaster')).toBe(`${MASTER}\n`)
  expect((await jobs()).slice(0, history.length)).toEqual(history)
  expect((await jobs()).filter((line) => line.includes('INSTANCE_MIGRATE'))).toHaveLength(8)
  expect(await onMaster('gnt-instance list-tags vm1')).toBe('seen\n')
  pids = [await guestPid(1, 'vm1'), await guestPid(2, 'vm2')]
})

adoptTest('the same command goes on, and the guests do not notice', async () => {
  await machines.run(2, 'umount /usr/lib/gantry')
  const { code, output } = await adopt(`--packages=${PACKAGES}`)
  expect([code, output]).toEqual([0, expect.stringContaining(`Done: ${OTHER}.`)])
  await Promise.all([isThere(1, pids[0] ?? ''), isThere(2, pids[1] ?? '')])
  await addInstance('vm3', 1)
  expect(await onMaster('gnt-cluster list-tags')).toBe('kept\n')
  // What Debian's Ganeti had told the remote API.
  expect(await onMaster('cat /etc/default/ganeti')).toContain('RAPI_ARGS="-b 127.0.0.1 --require-authentication"')
  expect((await machines.attempt(1, 'gnt-cluster verify')).output).not.toContain('ERROR')
  for (const machine of [1, 2]) await machines.run(machine, `! ls ${CONFFILES}`)
  history = await jobs()
})

adoptTest('the cluster is given back, and Ganeti goes on with all of it', async () => {
  pids = [...pids, await guestPid(1, 'vm3')]
  const { code, output } = await adopt('--back')
  expect([code, output]).toEqual([0, expect.stringContaining(`Done: ${OTHER}, ${MASTER}.`)])
  report(/The cluster was without.*/.exec(output)?.[0] ?? output)
  expect(await onMaster('gnt-cluster --version')).toContain('(ganeti')
  for (const machine of [1, 2]) await machines.run(machine, `ls ${CONFFILES}`)
  await Promise.all([isThere(1, pids[0] ?? ''), isThere(2, pids[1] ?? ''), isThere(1, pids[2] ?? '')])
  expect((await jobs()).slice(0, history.length)).toEqual(history)
  expect(await onMaster('gnt-instance list --no-headers -o name,status')).toMatch(
    /vm1 +running\nvm2 +running\nvm3 +running/,
  )
  await onMaster('gnt-instance migrate -f vm3 && gnt-instance shutdown --timeout=0 vm3 && gnt-instance remove -f vm3')
})
