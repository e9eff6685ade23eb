// Ganeti's own command line programs, unmodified, over our LUXI socket.
import { spawnSync } from 'node:child_process'
import * as path from 'node:path'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'
import {
  GANETI_PROGRAMS as PROGRAMS,
  ganetiPresent as present,
  ganetiTest as peerTest,
  PYTHON,
} from '../support/ganeti-programs'
import { runCli } from '../support/run-cli'

let cluster: EmbeddedCluster
beforeAll(async () => {
  if (present) cluster = await startCluster(['--hypervisor', 'fake'])
})
afterAll(() => (present ? cluster.remove() : undefined))

/** Runs a program that must succeed, and answers its output. */
function gnt(command: string): string {
  const [program = '', ...args] = command.split(' ')
  const env = { ...process.env, GANETI_ROOTDIR: path.join(cluster.root, NODE(1)), GANETI_HOSTNAME: NODE(1) }
  const ended = spawnSync(PYTHON, [path.join(PROGRAMS, `gnt-${program}`), ...args], { env, encoding: 'utf8' })
  expect({ command, code: ended.status, stderr: ended.stderr }).toEqual({ command, code: 0, stderr: '' })
  return ended.stdout
}

const NODE = (number: number) => `node${number}.gantry.local`
const PLAIN = '--no-headers --separator=,'

peerTest('list nodes, groups, operating systems, fields and the cluster', () => {
  expect(gnt(`node list ${PLAIN} -o name,role,group`)).toBe(
    `${NODE(1)},M,default\n${NODE(2)},C,default\n${NODE(3)},C,default\n`,
  )
  expect(gnt(`group list ${PLAIN} -o name,node_cnt`)).toBe('default,3\n')
  // Beside what the machine has.
  expect(gnt('os list --no-headers')).toMatch(/^gantry-tiny$/m)
  expect(gnt('cluster info')).toMatch(/Master node: node1\.gantry\.local/)
  expect(gnt('cluster getmaster')).toBe(`${NODE(1)}\n`)
  for (const program of ['node', 'instance', 'group', 'job', 'network', 'filter'])
    expect(gnt(`${program} list-fields`)).toMatch(/^Name +Type +Title +Description\n/)
})

peerTest('lead an instance through its life', () => {
  const add = 'instance add -t sharedfile --disk 0:size=16m -o gantry-tiny -B memory=64 --no-name-check --no-ip-check'
  expect(gnt(`${add} -n node2 vm1.gantry.local`)).toMatch(/starting instance/)
  expect(gnt(`instance list ${PLAIN} -o name,pnode,status,be/memory`)).toBe(`vm1.gantry.local,${NODE(2)},running,64\n`)
  expect(gnt('instance modify -B memory=128 --net 0:modify,link=br0 vm1')).toMatch(/nic.link\/0 -> br0/)
  gnt('instance add-tags vm1 web')
  expect(gnt('instance list-tags vm1')).toBe('web\n')
  expect(gnt('instance migrate -f -n node1 vm1')).toMatch(/\* done/)
  gnt('instance failover -f -n node3 vm1')
  gnt('instance reboot vm1')
  expect(gnt('instance grow-disk vm1 0 8m')).toMatch(/Growing disk 0 .* by 8M to 24M/)
  expect(gnt('instance info vm1')).toMatch(/disk\/0: sharedfile, size 24M/)
  gnt('instance shutdown vm1')
  gnt('instance rename --force --no-name-check --no-ip-check vm1 vm2.gantry.local')
  expect(gnt(`instance list ${PLAIN} -o name,pnode,status,oper_ram`)).toBe(`vm2.gantry.local,${NODE(3)},ADMIN_down,-\n`)
  gnt('instance remove -f vm2')
  expect(gnt(`instance list ${PLAIN}`)).toBe('')
})

peerTest('change nodes, groups, networks and the cluster, and see the jobs', () => {
  expect(gnt('node modify -D yes node3')).toMatch(/drained -> True/)
  expect(gnt('node modify -D no -C yes node3')).toMatch(/master_candidate -> True/)
  gnt('group add rack2')
  gnt('group assign-nodes rack2 node3')
  expect(gnt(`node list ${PLAIN} -o group node3`)).toBe('rack2\n')
  gnt('group assign-nodes default node3')
  gnt('group remove rack2')
  gnt('network add --network=192.0.2.0/24 net1')
  gnt('network connect net1 default')
  expect(gnt('network info net1')).toMatch(/default \(mode:bridged/)
  gnt('network disconnect net1 default')
  gnt('network remove net1')
  gnt('cluster modify -B memory=96')
  expect(gnt('cluster info')).toMatch(/maxmem: 96/)
  expect(gnt('cluster verify')).not.toMatch(/ERROR/)
  gnt('cluster queue drain')
  expect(gnt('cluster queue info')).toMatch(/drain flag is set/i)
  gnt('cluster queue undrain')
  gnt('debug delay 0.01')
  expect(gnt(`job list ${PLAIN} -o status,summary`)).toMatch(/success,NETWORK_REMOVE\(net1\)/)
})

/** Nothing is random in what these show: no job's number and no time. */
const SAME = `
gnt-instance list nosuch
gnt-instance list -F a b
gnt-instance list -o name,nosuch
gnt-instance list --units x
gnt-instance list-fields name nosuch
gnt-instance info
gnt-instance grow-disk inst1 0 1y
gnt-instance add-tags inst1
gnt-instance rename a
gnt-node list -o name,role,group,pinst_cnt,tags
gnt-node list --separator=: -o name,mtotal,dtotal,ndparams
gnt-node list-fields
gnt-node info
gnt-node list-storage -t nosuch
gnt-node power nosuch
gnt-node power
gnt-node modify -D maybe node1
gnt-node modify-storage node1 lvm-pv x
gnt-group list -o +node_list,tags,uuid
gnt-group info
gnt-group show-ispecs-cmd --include-defaults
gnt-network connect nosuch default
gnt-os list
gnt-os diagnose
gnt-os info
gnt-storage info
gnt-filter info
gnt-job cancel
gnt-job cancel --kill 1
gnt-job wait 99999
gnt-job archive 99999
gnt-job autoarchive 1x
gnt-cluster queue info
gnt-cluster queue nosuch
gnt-cluster info x
gnt-cluster modify
gnt-cluster modify -C x
gnt-cluster modify -B memory=default
gnt-cluster modify -B bogus=1
gnt-cluster modify -H kvm:acpi=maybe
gnt-cluster modify -N bogus=1
gnt-cluster modify -N mode=default
gnt-cluster modify -D plain:bogus=2
gnt-cluster modify --uid-pool=5-1
gnt-cluster modify --add-uids=1-2-3
gnt-cluster modify --node-parameters=spindle_count=x
gnt-cluster modify --ipolicy-bounds-specs bogus
gnt-cluster modify --ipolicy-std-specs=memory-size=x
gnt-cluster modify --ipolicy-disk-templates=bogus
gnt-cluster modify --data-collector-interval=drbd=x
gnt-cluster verify -g nosuch
gnt-cluster repair-disk-sizes nosuch
gnt-cluster search-tags (
gnt-cluster search-tags nosuch
gnt-cluster remove-tags nosuch
gnt-cluster deactivate-master-ip
gnt-cluster epo
gnt-cluster epo nosuch
gnt-cluster command -n nosuch true
gnt-cluster destroy
gnt-instance add -t plain --disk no_0 -n node1 -o noop x
gnt-instance add -t diskless --net 0:bogus=1 -n node1 -o noop x
gnt-instance add -t diskless --disk 0:size=1g -n node1 -o noop x
gnt-instance modify nosuch
gnt-instance modify -B memory=128 nosuch
gnt-instance replace-disks -n node3 -I hail nosuch
gnt-instance batch-create /nosuch/../etc/hostname/x y
gnt-instance failover -f -n node2 -I hail nosuch
gnt-instance migrate -f --non-live --migration-mode=live nosuch
gnt-instance change-group --to nosuch nosuch
gnt-instance remove nosuch
gnt-instance reinstall
gnt-instance console nosuch x
gnt-node migrate -f node2
gnt-node failover -f node2
gnt-node evacuate -f -p -s node2
gnt-node powercycle --yes nosuch
gnt-node modify node2
gnt-node modify -s bogus node2
gnt-node modify -C yes nosuch
gnt-node volumes nosuch
gnt-node volumes -o bogus
gnt-node list-storage nosuch
gnt-node restricted-command x nosuch
gnt-node restricted-command x
gnt-node remove node1
gnt-node health nosuch
gnt-group assign-nodes nosuch node1
gnt-group remove default
gnt-group rename nosuch x
gnt-group evacuate nosuch
gnt-group add default
gnt-network remove -f nosuch
gnt-network disconnect nosuch default
gnt-os modify noop
gnt-os modify -O  noop
gnt-backup list
gnt-backup remove nosuch
gnt-backup import
gnt-job cancel --pending 1
gnt-job change-priority 1
gnt-job autoarchive x
gnt-debug wconfd
gnt-debug delay -r x 1
gnt-backup export inst1
gnt-debug delay --nosuch
`

peerTest('are told from ours by nothing that they print, and by no exit code', async () => {
  const lines = SAME.trim().split('\n')
  const env = { ...process.env, GANETI_ROOTDIR: path.join(cluster.root, NODE(1)), GANETI_HOSTNAME: NODE(1) }
  const input = JSON.stringify(lines.map((line) => line.split(' ')))
  const script = path.join(__dirname, 'ganeti_commands.py')
  const ended = spawnSync(PYTHON, [script, PROGRAMS], { env, input, encoding: 'utf8' })
  const theirs = JSON.parse(ended.stdout) as [exit: number, stdout: string, stderr: string][]
  const ours: unknown[] = []
  for (const line of lines) {
    const { exit, stdout, stderr } = await runCli(cluster.master, line.split(' '))
    ours.push([line, ...comparable([exit, stdout, stderr])])
  }
  expect(ours).toEqual(lines.map((line, at) => [line, ...comparable(theirs[at] ?? [])]))
})

/** Ganeti's programs answer with words of Python or of the wire here, or with success; ours name the option and what is wrong. */
const SAID_BETTER = `
gnt-instance startup nosuch
gnt-instance grow-disk inst1 x 1g
gnt-node info nosuch
gnt-group info nosuch
gnt-group add --alloc-policy=bogus g
gnt-network info nosuch
gnt-os info nosuch
gnt-filter delete nosuch
gnt-job info nosuch
gnt-cluster watcher pause
gnt-cluster modify --max-running-jobs=-1
gnt-cluster modify -H bogus:acpi=true
gnt-cluster modify --uid-pool=x
gnt-cluster modify --enabled-hypervisors=kvm,bogus
gnt-cluster watcher pause 1x
gnt-instance add -t plain --disk x:size=1g -n node1 -o noop x
gnt-instance replace-disks -p --disks=1.5 nosuch
gnt-group modify --alloc-policy=bogus default
gnt-network add --network=bogus n
gnt-network modify --gateway=bogus nosuch
gnt-os modify -H bogus:acpi=true noop
gnt-filter replace nosuch
gnt-filter add --action=bogus
gnt-instance add -B a=1,a=2 x
gnt-network add n
`

peerTest('fail in plain words where Ganeti does not', async () => {
  for (const line of SAID_BETTER.trim().split('\n')) {
    const { exit, stderr } = await runCli(cluster.master, line.split(' '))
    const plain = stderr !== '' && !/Unhandled|invalid literal|Failed to parse/.test(stderr)
    expect({ line, failed: exit > 0, plain, stderr }).toEqual({ line, failed: true, plain: true, stderr })
  }
})

const TIME = /^\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4} /gm

/** Ours quotes a description that no reader of YAML would take as it is. */
const QUOTED = /^( +- \w+: )"(.*)"$/gm

/** Ganeti shows both ends of bounds in any order; the log of a job has times. */
const comparable = (displayed: readonly unknown[]) =>
  displayed.map((text) =>
    /(min|max)\/0: /.test(String(text))
      ? String(text)
          .split('\n')
          .map((line) => line.replace(/^ *- /, ''))
          .map((line) => line.trim())
          .sort()
      : typeof text === 'string'
        ? text.replace(TIME, '').replace(QUOTED, '$1$2')
        : text,
  )
