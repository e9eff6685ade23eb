// A cluster that Debian's Ganeti has made on two machines is taken over while its guests run and are pinged, worked with, and given back. The
// tests go on where the one before has left off.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { linuxGuestPresent, linuxGuestSkipped, linuxKernel, writeInitrd } from '../system/linux-guest'
import { testWith } from '../support/needs'
import { jobsLost, lookAtKept } from './kept'
import { CLUSTER, Machines, NEEDED, SHARED, missingForGaneti, nameOf } from './machines'
import { buildGantry, buildNode } from './packages'
import { Pings } from './pings'

const present = missingForGaneti.length === 0 && linuxGuestPresent
const adoptTest = testWith(present, linuxGuestPresent ? NEEDED : linuxGuestSkipped)
const [MASTER, OTHER] = [nameOf(1), nameOf(2)]
const PACKAGES = '/root/packages'
const NETWORK = 'lan'
/** By the name of the guest. */
const ADDRESSES = { vm1: '10.88.0.51', vm2: '10.88.0.52', vm3: '10.88.0.53' } as const
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
/** Each guest answers pings at an address of the network. */
const addInstance = async (name: string, machine: number, address: string) => {
  const [kernel, initrd] = [path.basename(linuxKernel), 'initrd'].map((file) => `${SHARED}/${file}`)
  const args = `console=ttyS0 guest-address=${address}/24`
  await onMaster(
    `gnt-instance add -t sharedfile --disk 0:size=16m -o noop -B memory=128m,vcpus=1 -n ${nameOf(machine)} ` +
      `-H 'kvm:kernel_path=${kernel},initrd_path=${initrd},kernel_args=${args}' --net 0:network=${NETWORK},ip=${address} ` +
      `--no-name-check --no-ip-check ${name}`,
  )
}
const answers = (machine: number, address: string) =>
  machines.until(machine, `ping -c 1 -W 1 ${address}`, ({ code }) => code === 0)
const guestPid = (machine: number, name: string) => machines.run(machine, `cat /run/ganeti/kvm-hypervisor/pid/${name}`)
const isThere = async (machine: number, pid: string) =>
  (await machines.attempt(machine, `grep -q qemu /proc/${pid.trim()}/cmdline`)).code === 0
const product = async (machine: number) =>
  (await machines.attempt(machine, 'test -e /usr/sbin/gantryd')).code === 0 ? 'gantry' : 'ganeti'
const jobs = async () => {
  const lines = (await onMaster('gnt-job list --no-headers -o id,status,summary')).trim().split('\n')
  return lines.map((line) => line.trim())
}
/** Files of Ganeti's package that do harm without it. */
const CONFFILES = '/etc/ganeti/kvm-ifup-os /etc/molly-guard/run.d/15-ganeti'
const adopt = (words: string) => machines.attempt(1, `gantry-adopt --yes-do-it ${words}`)

/** The machine of each guest, and its process there. */
let guests: ReadonlyMap<string, readonly [machine: number, pid: string]>
let history: string[]
const seeGuests = async (places: Readonly<Record<string, number>>) => {
  const all = Object.entries(places).map(async ([name, at]) => [name, [at, await guestPid(at, name)]] as const)
  guests = new Map(await Promise.all(all))
}
/** Changes the product while guests are pinged and jobs run; nothing of what the cluster has is lost. */
async function goesOver(what: string, words: string): Promise<{ code: number; output: string }> {
  const before = await lookAtKept(machines, [1, 2])
  expect([before.archive.length > 0, before.secrets[1]]).toEqual([
    true,
    expect.stringMatching(
      /\/client.pem\n[^]*\/server.pem\n[^]*\/cluster-domain-secret\n[^]*\/rapi\/users\n[^]*\/ssh_host_/,
    ),
  ])
  const submitted = await onMaster('for job in 1 2 3; do gnt-debug delay --submit 1; done')
  // The guest of one machine is pinged from the other one.
  const pings = [...guests].map(
    ([name, [at]]) => new Pings(machines, 3 - at, ADDRESSES[name as keyof typeof ADDRESSES]),
  )
  const ran = await adopt(words)
  const pinged = await Promise.all(pings.map((one) => one.end()))
  const after = await lookAtKept(machines, [1, 2])
  const there = await Promise.all([...guests.values()].map(([at, pid]) => isThere(at, pid)))
  const without = new RegExp(`^${MASTER}: done; its daemons were away for (\\S+) s`, 'm').exec(ran.output)?.[1]
  // Ours says each number twice: for people, and for programs.
  const ids = [...new Set(submitted.match(/\d+/g))]
  const states = await onMaster(`gnt-job list --no-headers -o status ${ids.join(' ')}`)
  const [lostJobs, lostGuests] = [jobsLost(before, after), there.filter((is) => !is).length]
  report(
    [
      `${what}: ${without === undefined ? 'the master stayed' : `${without} s without a master`}`,
      `guests lost: ${lostGuests} of ${guests.size}, silent for at most ${Math.max(...pinged.map((one) => one.silent_ms))} ms`,
      `jobs lost: ${lostJobs.length} of ${before.jobs.length + before.archive.length + ids.length}`,
    ].join('; '),
  )
  // Whoever never answered was never silent either.
  expect(Math.min(...pinged.map((one) => one.answers))).toBeGreaterThan(50)
  expect({ lostGuests, lostJobs }).toEqual({ lostGuests: 0, lostJobs: [] })
  expect([ids.length, states.trim().split(/\s+/)]).toEqual([3, ['success', 'success', 'success']])
  expect([after.secrets, after.objects]).toEqual([before.secrets, before.objects])
  return ran
}

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
  writeInitrd(path.join(folder, 'initrd'))
  for (const file of [linuxKernel, path.join(folder, 'initrd')]) machines.share(file)
  await onMaster(`gnt-network add --network=10.88.0.0/24 ${NETWORK}`)
  await onMaster(`gnt-network connect -N mode=bridged,link=br0 ${NETWORK} default`)
  await addInstance('vm1', 1, ADDRESSES.vm1)
  await addInstance('vm2', 2, ADDRESSES.vm2)
  for (const what of ['cluster', `node ${OTHER}`, 'group default', `network ${NETWORK}`, 'instance vm2']) {
    const [kind = '', ...name] = what.split(' ')
    await onMaster(`gnt-${kind} add-tags ${[...name, 'kept'].join(' ')}`)
  }
  await onMaster(
    "echo 'someone {HA1}0123456789abcdef0123456789abcdef write' >> /var/lib/ganeti/rapi/users && gnt-cluster redist-conf",
  )
  await onMaster('gnt-job archive 1 2')
  await seeGuests({ vm1: 1, vm2: 2 })
  await answers(2, ADDRESSES.vm1)
  await answers(1, ADDRESSES.vm2)
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
  const { code, output } = await goesOver('the master goes over', `--packages=${PACKAGES}`)
  expect([code, output]).toEqual([1, expect.stringContaining(`It runs Ganeti as before. These have: ${MASTER}.`)])
  expect([await product(1), await product(2)]).toEqual(['gantry', 'ganeti'])
  // Guests go from each kind of node to the other, under our master.
  await onMaster('gnt-instance migrate -f vm1 && gnt-instance migrate -f vm2')
  expect(await onMaster('gnt-instance list --no-headers -o name,pnode,status')).toMatch(
    /vm1 +node2.*running\nvm2 +node1.*running/,
  )
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
  await seeGuests({ vm1: 1, vm2: 2 })
})

adoptTest('the same command goes on, and the guests do not notice', async () => {
  await machines.run(2, 'umount /usr/lib/gantry')
  const { code, output } = await goesOver('the other node goes over', `--packages=${PACKAGES}`)
  expect([code, output]).toEqual([0, expect.stringContaining(`Done: ${OTHER}.`)])
  await addInstance('vm3', 1, ADDRESSES.vm3)
  // What Debian's Ganeti had told the remote API.
  expect(await onMaster('cat /etc/default/ganeti')).toContain('RAPI_ARGS="-b 127.0.0.1 --require-authentication"')
  expect((await machines.attempt(1, 'gnt-cluster verify')).output).not.toContain('ERROR')
  for (const machine of [1, 2]) await machines.run(machine, `! ls ${CONFFILES}`)
  history = await jobs()
})

adoptTest('the cluster is given back, and Ganeti goes on with all of it', async () => {
  await seeGuests({ vm1: 1, vm2: 2, vm3: 1 })
  await answers(2, ADDRESSES.vm3)
  const { code, output } = await goesOver('the way back', '--back')
  expect([code, output]).toEqual([0, expect.stringContaining(`Done: ${OTHER}, ${MASTER}.`)])
  expect(await onMaster('gnt-cluster --version')).toContain('(ganeti')
  for (const machine of [1, 2]) await machines.run(machine, `ls ${CONFFILES}`)
  // Each product has its own words for what a job does.
  const known = (lines: readonly string[]) => lines.map((line) => line.split(' ').slice(0, 2).join(' '))
  expect(known((await jobs()).slice(0, history.length))).toEqual(known(history))
  expect(await onMaster('gnt-instance list --no-headers -o name,status')).toMatch(
    /vm1 +running\nvm2 +running\nvm3 +running/,
  )
  await onMaster('gnt-instance migrate -f vm3 && gnt-instance shutdown --timeout=0 vm3 && gnt-instance remove -f vm3')
})
