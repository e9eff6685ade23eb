// A cluster on machines with systemd, from our packages: installed, made, used, killed, upgraded, rebooted, purged. The tests go on where
// the one before has left off.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { linuxGuestPresent, linuxGuestSkipped } from '../system/linux-guest'
import { testWith } from '../support/needs'
import { inGuest, linuxGuest } from './guests'
import { CLUSTER, GUEST, Machines, NEEDED, SHARED, missing, nameOf } from './machines'
import { buildGantry, buildNode, packagesIn, versionIn } from './packages'
import { Pings } from './pings'

const present = missing.length === 0 && linuxGuestPresent
const machineTest = testWith(present, linuxGuestPresent ? NEEDED : linuxGuestSkipped)
const ALL = [1, 2, 3] as const
/** Those of the master; other nodes have those that are on every node, and confd where they are candidates. */
const ACCOUNTS: Readonly<Record<string, string>> = {
  noded: 'root',
  mond: 'root',
  confd: 'gnt-confd',
  wconfd: 'gnt-masterd',
  luxid: 'gnt-masterd',
  maintd: 'gnt-masterd',
  rapi: 'gnt-rapi',
}
/** Nodes have these when guests need them. */
const ON_DEMAND: Readonly<Record<string, string>> = { kvmd: 'root', metad: 'gnt-metad' }
const DAEMONS = [...Object.keys(ACCOUNTS), ...Object.keys(ON_DEMAND)]
/** What /etc/default/ganeti gives each guest, and how systemd tells of that. */
const LIMITS = { asked: 'CPUWeight=50 MemoryHigh=1G', told: ['CPUWeight=50', 'MemoryHigh=1073741824'] }
/** What a package leaves behind; and on a node that is still of a cluster, its logs. */
const DATA = ['/var/lib/ganeti', '/var/lib/dpkg', '/srv/ganeti', '/etc/ganeti', '/run/', '/sys/']
/** Has the packages of an earlier version. Without it, the present sources with another number stand for that. */
const EARLIER = process.env['UPGRADE_FROM']
const FIRST = EARLIER === undefined ? '0.1.0' : versionIn(EARLIER)
const NEXT = `${FIRST}.1`
/** An earlier version need not do it. */
const presentTest = EARLIER === undefined ? machineTest : test.skip
/** One that stands beside another has the command that can name nodes, even if that has not. */
const UPGRADE = EARLIER === undefined ? 'gnt-cluster upgrade' : `/usr/lib/gantry/${NEXT}/bin/gnt.js cluster upgrade`

let machines: Machines
let folder: string
beforeAll(async () => {
  if (!present) return
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gp-'))
  machines = new Machines()
  await Promise.all(ALL.map((machine) => machines.start(machine)))
})
afterAll(async () => {
  await machines?.remove()
  if (folder !== undefined) fs.rmSync(folder, { recursive: true })
})

const report = (text: string) => void process.stdout.write(`${text}\n`)
const pidOf = async (machine: number, role: string) =>
  (await machines.run(machine, `systemctl show -p MainPID --value ganeti-${role}.service`)).trim()
const guestPid = async (machine: number, name: string) =>
  (await machines.run(machine, `cat /run/ganeti/kvm-hypervisor/pid/${name}`)).trim()
const isActive = async (machine: number, role: string) =>
  (await machines.attempt(machine, `systemctl is-active ganeti-${role}.service`)).output.trim()
const versionOf = async (machine: number) =>
  path.basename((await machines.run(machine, 'readlink /etc/ganeti/gantry')).trim())
/** As a command leaves it that was cut off. */
const NOTE = '/var/lib/ganeti/intent-to-upgrade'
const noteIsGone = (machine: number) => machines.until(machine, `test ! -e ${NOTE}`, ({ code }) => code === 0)
const isRunning = async (machine: number, role: string, account: string) => {
  expect({ [role]: await isActive(machine, role) }).toEqual({ [role]: 'active' })
  expect((await machines.run(machine, `ps -o user= -p ${await pidOf(machine, role)}`)).trim()).toBe(account)
}
const newPid = (machine: number, role: string, before: string) =>
  machines.until(
    machine,
    `systemctl is-active ganeti-${role}.service && systemctl show -p MainPID --value ganeti-${role}.service`,
    ({ code, output }) => code === 0 && output.trim().split('\n').at(-1) !== before,
  )

machineTest('the packages install on a bare machine, and nothing runs before there is a cluster', async () => {
  const first = EARLIER === undefined ? buildGantry(folder, FIRST) : packagesIn(EARLIER, FIRST)
  const files = [buildNode(folder), ...first].map((file) => machines.share(file))
  await Promise.all(ALL.map((machine) => machines.run(machine, `dpkg -i ${files.join(' ')}`)))
  const limits = `sed -i 's/^GUEST_PROPERTIES=.*/GUEST_PROPERTIES="${LIMITS.asked}"/' /etc/default/ganeti`
  for (const machine of ALL) {
    await machines.run(machine, limits)
    expect(await machines.run(machine, 'systemctl list-units --failed --plain --no-legend "ganeti*"')).toBe('')
    expect(await isActive(machine, 'noded')).toBe('inactive')
  }
  const { output } = await machines.attempt(1, 'bash -c "time gnt --help >/dev/null" 2>&1')
  report(`gnt --help in a machine: ${/real\s+(\S+)/.exec(output)?.[1]}`)
})

presentTest(
  'where no systemd runs, daemon-util starts the daemons of a new cluster, and the watcher those that died',
  async () => {
    // The daemons that are started from there do not see systemd either.
    const apart = (line: string) => machines.run(3, `unshare -m sh -ec 'mount -t tmpfs none /run/systemd && ${line}'`)
    const templates = '--enabled-hypervisors=fake --enabled-disk-templates=diskless'
    const said = await apart(`gnt-cluster init --no-ssh-init ${templates} --master-netdev=br0 ${CLUSTER}`)
    expect(said).not.toContain('gantryd node')
    const pidFile = (role: string) => `/run/ganeti/ganeti-${role}.pid`
    for (const [role, account] of Object.entries(ACCOUNTS))
      expect((await machines.run(3, `ps -o user= -p $(cat ${pidFile(role)})`)).trim()).toBe(account)
    // One of root's, and one of another account.
    for (const role of ['mond', 'confd']) await machines.run(3, `kill -9 $(cat ${pidFile(role)})`)
    await apart('ganeti-watcher')
    for (const role of ['mond', 'confd']) await machines.run(3, `grep -q ${role} /proc/$(cat ${pidFile(role)})/cmdline`)
    await machines.run(3, 'ip address show br0 | grep -q 10.88.0.10/')
    await apart('gnt-cluster destroy --yes-do-it')
    await machines.until(3, `! ls ${pidFile('*')}`, ({ code }) => code === 0)
  },
)

machineTest('a cluster is made with what works here, and its daemons run under their accounts', async () => {
  await machines.run(1, `mkdir -p /etc/ganeti && echo ${SHARED} > /etc/ganeti/file-storage-paths`)
  const init = `gnt-cluster init --master-netdev=br0 --nic-parameters link=br0 ${CLUSTER}`
  const said = await machines.run(1, init)
  expect(said).toContain('Hypervisor: kvm\nDisk templates: sharedfile\n')
  for (const [role, account] of Object.entries(ACCOUNTS)) await isRunning(1, role, account)
  if (EARLIER === undefined) await machines.run(1, 'gnt cluster verify')
})

machineTest('bare machines join over SSH, and get the daemons of their place', async () => {
  const key = await machines.run(1, 'cat /root/.ssh/id_rsa.pub')
  for (const machine of [2, 3]) {
    await machines.run(machine, `mkdir -p -m 700 /root/.ssh && echo '${key.trim()}' > /root/.ssh/authorized_keys`)
    await machines.run(machine, `mkdir -p /etc/ganeti && echo ${SHARED} > /etc/ganeti/file-storage-paths`)
    await machines.run(1, `gnt-node add --no-ssh-key-check ${nameOf(machine)}`)
    for (const role of ['noded', 'mond', 'confd'])
      expect({ [role]: await isActive(machine, role) }).toEqual({ [role]: 'active' })
    expect(await isActive(machine, 'luxid')).toBe('inactive')
  }
  await machines.run(1, `gnt-node modify -C no ${nameOf(3)}`)
  await machines.until(3, 'systemctl is-active ganeti-confd', ({ output }) => output.trim() === 'inactive')
  await machines.run(1, `gnt-node modify -C yes ${nameOf(3)}`)
  await machines.until(3, 'systemctl is-active ganeti-confd', ({ output }) => output.trim() === 'active')
  if (EARLIER === undefined) expect(await machines.run(1, 'gnt cluster verify')).not.toMatch(/ERROR/)
})

machineTest('a guest on the bridge is reached from another machine while it moves', async () => {
  const hypervisor = `kvm:${linuxGuest(machines, folder)(`${GUEST}/24`)},user_shutdown=true`
  await machines.run(1, 'gnt-cluster modify --user-shutdown=yes --instance-communication-network=comm')
  await machines.run(
    1,
    `gnt-instance add -t sharedfile --disk 0:size=1g -o gantry-tiny -B memory=128m ` +
      `-H '${hypervisor}' -n ${nameOf(1)} --net 0:link=br0 --communication=yes vm1`,
  )
  await machines.until(3, `ping -c 1 -W 1 ${GUEST}`, ({ code }) => code === 0)
  const pings = new Pings(machines, 3, GUEST)
  await machines.run(1, `gnt-instance migrate -f -n ${nameOf(2)} vm1`)
  const { answers, lost } = await pings.end()
  report(`the guest let ${lost} pings in a row be lost while it moved, 20 ms each, and answered ${answers}`)
  // From before it moved until afterwards, and never silent for a second.
  expect(answers).toBeGreaterThan(50)
  expect(lost).toBeLessThan(50)
  expect(await machines.run(1, 'gnt-instance list --no-headers -o pnode vm1')).toContain(nameOf(2))
  await machines.run(1, `gnt-instance migrate -f -n ${nameOf(1)} vm1`)
})

presentTest('the daemons that guests need run, and reach them in spite of how far they are shut in', async () => {
  for (const [role, account] of Object.entries(ON_DEMAND)) {
    await isRunning(1, role, account)
    expect(await machines.run(1, `systemctl show -p NRestarts --value ganeti-${role}.service`)).toBe('0\n')
  }
  const nic = await machines.run(1, 'gnt-instance list --no-headers -o nic.ips --separator=: vm1')
  const address = /169\.254\.\d+\.\d+/.exec(nic)?.[0]
  const url = 'http://169.254.169.254/ganeti/latest/meta_data.json'
  const asks = `ip link set eth1 up; ip address add ${address}/16 dev eth1; wget -q -O - ${url}; echo ASK""ED`
  expect(await inGuest(machines, 1, 'vm1', asks, 'ASKED')).toContain('"vm1"')
  await inGuest(machines, 1, 'vm1', 'echo STO""PS; poweroff -f', 'STOPS')
  // Whoever asks the node for its guests would note it, too.
  await machines.until(1, "grep 'its user has shut it down' /var/log/ganeti/kvm-daemon.log", ({ code }) => code === 0)
  expect(await machines.run(1, 'gnt-instance list --no-headers -o status vm1')).toContain('USER_down')
  await machines.run(1, 'gnt-instance startup vm1')
  await machines.until(3, `ping -c 1 -W 1 ${GUEST}`, ({ code }) => code === 0)
})

presentTest('the cleaners remove what is old, although they are shut in', async () => {
  const [left, job] = ['/var/lib/ganeti/watcher.a-b-c-d.data', '/var/lib/ganeti/queue/archive/0/job-1']
  const old = `touch -d '40 days ago' ${left} ${job}`
  await machines.run(1, `mkdir -p $(dirname ${job}) && ${old} && chown -R gnt-masterd: $(dirname ${job})`)
  for (const [cleaner, file] of [
    ['ganeti-cleaner', left],
    ['ganeti-master-cleaner', job],
  ] as const) {
    await machines.run(1, `test -e ${file} && systemctl start ${cleaner}.service && test ! -e ${file}`)
    expect(await machines.run(1, `systemctl show -p Result --value ${cleaner}.service`)).toBe('success\n')
  }
})

presentTest('a daemon that is stuck is started again', async () => {
  const place = '/run/systemd/system/ganeti-mond.service.d'
  await machines.run(1, `mkdir ${place} && printf '[Service]\\nWatchdogSec=10\\n' > ${place}/watchdog.conf`)
  await machines.run(1, 'systemctl daemon-reload && systemctl restart ganeti-mond')
  const before = await pidOf(1, 'mond')
  await machines.run(1, `kill -STOP ${before}`)
  await newPid(1, 'mond', before)
  expect(await machines.run(1, 'journalctl --no-pager -u ganeti-mond')).toContain('Watchdog timeout')
  await machines.run(1, `rm -r ${place} && systemctl daemon-reload && systemctl restart ganeti-mond`)
})

presentTest('a daemon that is killed is back, and guests and jobs do not notice', async () => {
  const guest = await guestPid(1, 'vm1')
  const group = await machines.run(1, `cat /proc/${guest}/cgroup`)
  const scope = /\/ganeti\.slice\/ganeti-guests\.slice\/(ganeti-guest-vm1-\w+\.scope)/.exec(group)?.[1]
  const limits = await machines.run(1, `systemctl show -p CPUWeight -p MemoryHigh ${scope}`)
  expect(limits.trim().split('\n').sort()).toEqual(LIMITS.told)
  for (const role of DAEMONS) {
    const before = await pidOf(1, role)
    await machines.run(1, `kill -9 ${before}`)
    await newPid(1, role, before)
  }
  await machines.until(1, 'gnt cluster verify', ({ code }) => code === 0)
  expect(await guestPid(1, 'vm1')).toBe(guest)
  await machines.run(3, `ping -c 1 ${GUEST}`)
})

machineTest('a new version stands beside the old one, and touches nothing', async () => {
  const before = await Promise.all(ALL.map((machine) => pidOf(machine, 'noded')))
  const files = buildGantry(folder, NEXT).map((file) => machines.share(file))
  for (const machine of ALL)
    expect(await machines.run(machine, `dpkg --force-confold -i ${files.join(' ')}`)).toContain(`upgrade --to ${NEXT}`)
  expect(await Promise.all(ALL.map((machine) => pidOf(machine, 'noded')))).toEqual(before)
  for (const machine of ALL) expect(await versionOf(machine)).toBe(FIRST)
  const refused = await machines.attempt(1, `dpkg -r gantry-${FIRST}`)
  expect([refused.code !== 0, refused.output]).toEqual([true, expect.stringContaining(`runs version ${FIRST}`)])
})

machineTest('a version that does not work on one node is taken back on all, and no guest notices', async () => {
  const guest = await guestPid(1, 'vm1')
  const bundle = `/usr/lib/gantry/${NEXT}/dist/bundle/ganeti-noded.js`
  await machines.run(3, `cp ${bundle} /root/kept && echo '(function () { process.exit(3) })' > ${bundle}`)
  const { code, output } = await machines.attempt(1, `gnt-cluster upgrade --to ${NEXT}`)
  await machines.run(3, `mv /root/kept ${bundle}`)
  expect([code, output]).toEqual([1, expect.stringContaining(`It runs version ${FIRST} as before`)])
  expect(output).toContain(`Could not start the daemons on ${nameOf(3)}`)
  for (const machine of ALL) expect(await versionOf(machine)).toBe(FIRST)
  expect((await machines.attempt(1, `test -e ${NOTE}`)).code).toBe(1)
  expect(await machines.run(1, 'gnt-cluster queue info')).toContain('unset')
  await machines.until(1, 'gnt cluster verify', ({ code: ended }) => ended === 0)
  expect(await guestPid(1, 'vm1')).toBe(guest)
})

/** The master changes something that all nodes are told, and a guest moves to the node and back. */
async function workTogether(machine: number, tag: string): Promise<void> {
  await machines.run(1, `gnt-cluster add-tags ${tag}`)
  for (const one of ALL) {
    expect(await machines.run(one, 'cat /var/lib/ganeti/ssconf_cluster_tags')).toContain(tag)
    // The job is in a file of its own, or in the journal of the queue.
    await machines.run(one, `grep -rqw ${tag} /var/lib/ganeti/queue`)
  }
  for (const to of [machine, 1]) {
    await machines.run(1, `gnt-instance migrate -f -n ${nameOf(to)} vm1`)
    await machines.run(3, `ping -c 1 ${GUEST}`)
  }
}

machineTest('one node after the other goes over, and nodes of both versions work together', async () => {
  const [noded, guest] = [await pidOf(1, 'noded'), await guestPid(1, 'vm1')]
  expect(await machines.run(1, `${UPGRADE} --to ${NEXT} node3`)).toMatch(/^Done\.$/m)
  expect(await Promise.all(ALL.map(versionOf))).toEqual([FIRST, FIRST, NEXT])
  expect([await pidOf(1, 'noded'), await guestPid(1, 'vm1')]).toEqual([noded, guest])
  // The first versions neither ask nor tell which they are.
  const isTold = async (machine: number, of: string, master: string) => {
    const text =
      EARLIER === undefined ? `WARNING: node ${nameOf(machine)}: it runs Gantry ${of}, and the master ${master}` : ''
    expect(await machines.run(1, 'gnt cluster verify')).toContain(text)
  }
  await isTold(3, NEXT, FIRST)
  await workTogether(3, 'new-node')

  expect(await machines.run(1, `${UPGRADE} --to ${NEXT} node1`)).toMatch(/^Done\.$/m)
  expect(await Promise.all(ALL.map(versionOf))).toEqual([NEXT, FIRST, NEXT])
  await isTold(2, FIRST, NEXT)
  await workTogether(2, 'new-master')
})

machineTest('what is left of the cluster goes over to the new version, and no guest notices', async () => {
  const guest = await guestPid(1, 'vm1')
  const began_ms = performance.now()
  const output = await machines.run(1, `gnt-cluster upgrade --to ${NEXT}`)
  report(`the last node went over to another version in ${Math.round((performance.now() - began_ms) / 1000)} s`)
  expect(output).toMatch(/^Done\.$/m)
  for (const machine of ALL) {
    expect(await versionOf(machine)).toBe(NEXT)
    expect(await machines.run(machine, `cat /proc/${await pidOf(machine, 'noded')}/cmdline`)).toContain('ganeti-noded')
  }
  for (const role of Object.keys(ON_DEMAND))
    await machines.until(1, `systemctl is-active ganeti-${role}`, ({ code }) => code === 0)
  expect(await machines.run(1, 'gnt-cluster upgrade --resume')).toBe('Nothing to do.\n')
  expect(await guestPid(1, 'vm1')).toBe(guest)
  await machines.run(3, `ping -c 1 ${GUEST}`)
})

machineTest(
  'a cluster that has worked with the new version goes back to the former one, and again to the new one',
  async () => {
    const guest = await guestPid(1, 'vm1')
    for (const [to, tag] of [
      [FIRST, 'gone-back'],
      [NEXT, 'new-again'],
    ] as const) {
      expect(await machines.run(1, `gnt-cluster upgrade --to ${to}`)).toMatch(/^Done\.$/m)
      expect(await Promise.all(ALL.map(versionOf))).toEqual([to, to, to])
      expect(await guestPid(1, 'vm1')).toBe(guest)
      expect(await machines.run(1, 'gnt-cluster list-tags')).toContain('new-master')
      await machines.run(1, `gnt-cluster add-tags ${tag}`)
      expect(await machines.run(1, 'gnt cluster verify')).not.toMatch(/ERROR/)
    }
    for (const machine of ALL) await machines.run(machine, `dpkg -P gantry-${FIRST}`)
  },
)

machineTest('an upgrade that was cut off goes on with the unit that starts with the machine', async () => {
  expect(await machines.run(1, 'systemctl is-enabled ganeti-upgrade')).toBe('enabled\n')
  const [noded, guest] = [await pidOf(1, 'noded'), await guestPid(1, 'vm1')]
  await machines.run(1, `gnt-cluster queue drain && echo ${FIRST},${NEXT},1 > ${NOTE}`)
  const refused = await machines.attempt(1, 'gnt-cluster verify')
  expect([refused.code, refused.output]).toEqual([1, expect.stringContaining("'gnt-cluster upgrade --resume'")])
  await machines.run(1, 'systemctl start ganeti-upgrade')
  await noteIsGone(1)
  expect(await machines.run(1, 'gnt-cluster queue info')).toContain('unset')
  expect(await pidOf(1, 'noded')).not.toBe(noded)
  expect(await guestPid(1, 'vm1')).toBe(guest)
  await machines.until(1, 'systemctl is-active ganeti-upgrade', ({ output }) => output.trim() === 'inactive')
})

machineTest('cfgupgrade refuses while the master runs, and takes a copy back to 3.0', async () => {
  const tool = '/usr/lib/ganeti/tools/cfgupgrade --force --downgrade'
  const { code, output } = await machines.attempt(1, tool)
  expect([code, output]).toEqual([1, expect.stringContaining('wconfd is running')])
  await machines.run(
    1,
    'mkdir /root/copy && cp /var/lib/ganeti/config.data /var/lib/ganeti/server.pem /var/lib/ganeti/ssconf_* /root/copy',
  )
  expect(await machines.run(1, `${tool} --path /root/copy`)).toContain('of version 3.1 is one of 3.0 now')
})

machineTest('a machine that starts again gets its daemons and its instances back', async () => {
  await machines.run(1, `gnt-instance migrate -f -n ${nameOf(2)} vm1`)
  // Nobody needs this note: another node is the master.
  await machines.run(2, `echo ${FIRST},${NEXT},1 > ${NOTE}`)
  const began_ms = performance.now()
  await machines.attempt(2, 'systemctl reboot')
  await machines.until(2, 'uptime -s; systemctl is-active ganeti-noded', ({ code }) => code === 0)
  await machines.until(3, `ping -c 1 -W 1 ${GUEST}`, ({ code }) => code === 0)
  report(
    `the guest answered ${Math.round((performance.now() - began_ms) / 1000)} s after its machine was told to start again`,
  )
  expect(await machines.run(1, 'gnt-instance list --no-headers -o status vm1')).toContain('running')
  await noteIsGone(2)
})

machineTest('another node becomes the master, and the daemons of the master go with it', async () => {
  await machines.run(3, 'gnt-cluster master-failover')
  for (const role of ['wconfd', 'luxid', 'rapi', 'maintd']) {
    expect({ [role]: await isActive(3, role) }).toEqual({ [role]: 'active' })
    expect({ [role]: await isActive(1, role) }).toEqual({ [role]: 'inactive' })
  }
  await machines.until(3, 'gnt cluster verify', ({ code }) => code === 0)
})

machineTest('a package that is purged leaves nothing but data', async () => {
  await machines.run(3, `gnt-node remove ${nameOf(1)}`)
  await machines.until(1, 'systemctl is-active ganeti-noded', ({ output }) => output.trim() === 'inactive')
  for (const machine of [1, 2]) {
    await machines.run(machine, `dpkg -P gantry gantry-htools gantry-doc gantry-adopt gantry-${NEXT}`)
    const left =
      'find / -xdev ( -name "*gantry*" -o -name "*ganeti*" -o -name "gnt-*" ) -not -path "/proc/*" -not -path "/root/*"'
    const data = machine === 2 ? [...DATA, '/var/log/ganeti'] : DATA
    const files = (await machines.run(machine, left.replaceAll('(', '\\(').replaceAll(')', '\\)')))
      .split('\n')
      .filter((file) => file !== '' && !data.some((folder) => file.startsWith(folder)))
    expect(files).toEqual([])
    expect(await machines.run(machine, 'find /etc/ganeti -xtype l 2>/dev/null || true')).toBe('')
    expect(await machines.run(machine, 'systemctl list-units --all --plain --no-legend "ganeti-*.service"')).toBe('')
  }
  // The node that left has none, and the other one still has the cluster's; its guest runs on.
  expect((await machines.attempt(1, 'test -e /var/lib/ganeti/server.pem')).code).toBe(1)
  await machines.run(2, 'test -e /var/lib/ganeti/server.pem')
  await machines.run(3, `ping -c 1 ${GUEST}`)
})
