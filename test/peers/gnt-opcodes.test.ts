// Typed commands must send the same opcodes to the master from Ganeti's own programs and from ours.
import { spawn } from 'node:child_process'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { systemClock } from '../../src/lib/clock'
import { serveLuxi } from '../../src/daemons/luxid/server'
import type { FramedServer } from '../../src/lib/net/json-socket'
import { silentLog } from '../../src/lib/log'
import { pathsOf } from '../../src/lib/paths'
import { OpExecError } from '../../src/model/errors'
import type { WireOpCode } from '../../src/rpc/luxi/calls'
import { LuxiClient } from '../../src/rpc/luxi/client'
import { FakeMaster } from '../support/fake-master'
import { GANETI_PROGRAMS, ganetiTest, PYTHON } from '../support/ganeti-programs'
import { runCli } from '../support/run-cli'

const HOST = 'node1.gnt.example'

/** Notes all submissions, and accepts none. */
class Notes extends FakeMaster {
  override async submitJob(ops: readonly WireOpCode[]): Promise<never> {
    this.submitted.push(ops)
    throw new OpExecError('not taken')
  }

  override async submitManyJobs(jobs: readonly (readonly WireOpCode[])[]): Promise<never> {
    this.submitted.push(...jobs)
    throw new OpExecError('not taken')
  }
}

let root: string
let master: Notes
let servers: FramedServer[]
let client: LuxiClient
beforeAll(async () => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'gnt-ops-'))
  const paths = pathsOf(path.join(root, HOST), HOST)
  const sockets = ['ganeti-master', 'ganeti-query'].map((name) => paths.local(`/var/run/ganeti/socket/${name}`))
  fs.mkdirSync(path.dirname(sockets[0] ?? ''), { recursive: true })
  master = new Notes()
  servers = await serveLuxi(sockets, master, silentLog)
  client = new LuxiClient({ clock: systemClock, path: sockets[0] ?? '' })
})
afterAll(async () => {
  client.close()
  await Promise.all(servers.map((server) => server.close()))
  fs.rmSync(root, { recursive: true })
})

const BOUNDS = 'disk-size=1g,cpu-count=1,disk-count=1,nic-count=1,spindle-use=1'
const NEW = '--no-name-check --no-ip-check -o noop new.gnt.example'

const LINES = `
gnt-backup export -n node2 --noshutdown --shutdown-timeout=10 --transport-compression=gzip inst1
gnt-backup export -n node2 --remove-instance --ignore-remove-failures --zero-free-space --zeroing-timeout-fixed=5 --long-sleep inst1
gnt-backup import -n node1:node2 -t drbd --src-node=node1 --src-dir=/x --identify-defaults --compress=gzip inst9
gnt-backup import -n node1 -t file -s 1g -B memory=64 -H fake:migration_mode=live -O a=b --no-nics --tags=a,b inst9
gnt-backup remove --dry-run --priority=high inst1
gnt-cluster add-tags a b
gnt-cluster remove-tags a
gnt-cluster search-tags ^x
gnt-cluster modify -B minmem=100,maxmem=1g,auto_balance=false -C 3 -m aa:bb:cc
gnt-cluster modify --max-running-jobs=5 --max-tracked-jobs=6 --install-image=/x --instance-communication-network=net
gnt-cluster modify --enabled-hypervisors=kvm,fake -H kvm:acpi=false -H fake:migration_mode=live
gnt-cluster modify --master-netdev=br0 --master-netmask=24 -N mode=bridged,link=br0
gnt-cluster modify --uid-pool=1-5,7 --add-uids=9 --remove-uids=1-2
gnt-cluster modify --vg-name= --drbd-usermode-helper=/bin/true --reserved-lvs=a,b -I hail --default-iallocator-params=a=b
gnt-cluster modify --node-parameters=oob_program=/x -D drbd:resync-rate=5000 -D plain:stripes=2
gnt-cluster modify --hypervisor-state=kvm:mem_total=100 --disk-state=plain/xenvg:disk_total=5
gnt-cluster modify --enabled-disk-templates=file,diskless --ipolicy-disk-templates=plain --ipolicy-vcpu-ratio=4
gnt-cluster modify --ipolicy-bounds-specs min:memory-size=128,${BOUNDS}/max:memory-size=1g,${BOUNDS} --ipolicy-std-specs=memory-size=1g
gnt-cluster modify --maintain-node-health=yes --prealloc-wipe-disks=no --use-external-mip-script=no --modify-etc-hosts=no --user-shutdown=yes
gnt-cluster modify --file-storage-dir=/srv/x --shared-file-storage-dir= --zeroing-image=/x --compression-tools=gzip,lzop
gnt-cluster modify --enabled-data-collectors=cpu-avg-load=true,drbd=false
gnt-cluster repair-disk-sizes inst1 inst2
gnt-cluster redist-conf
gnt-cluster rename -f x.example
gnt-cluster verify -g default --error-codes --no-nplus1-mem -I ENODEVERSION
gnt-cluster verify-disks -g default
gnt-debug delay -n node1 --no-master -r 3 -i 1
gnt-debug delay 0
gnt-debug iallocator --mode=node-evacuate --evac-mode=primary-only --dir=out -I hail node1
gnt-debug test-osparams --os-parameters-secret=a=b
gnt-group add --alloc-policy=preferred --node-parameters=oob_program=/x -D plain:stripes=2 --disk-state=plain/xenvg:disk_reserved=5 g1
gnt-group assign-nodes -f default node1 node2
gnt-group evacuate --to a,b -I hail --early-release default
gnt-group modify --ipolicy-bounds-specs default --ipolicy-disk-templates=default --ipolicy-vcpu-ratio=default default
gnt-group modify --alloc-policy=last_resort --hypervisor-state=kvm:mem_total=5 default
gnt-group remove rack2
gnt-group rename a b
gnt-group add-tags default a
gnt-instance activate-disks --ignore-size --wait-for-sync inst1
gnt-instance add -t plain --disk 0:size=1g,vg=x,metavg=y,mode=ro,name=d --disk 1:size=2g -n node1 ${NEW}
gnt-instance add -t plain --disk 0:adopt=lv1 -n node1:node2 -H kvm:acpi=false,kernel_path=/x -B memory=1g,vcpus=2 ${NEW}
gnt-instance add -t diskless --net 0:link=br0,ip=1.2.3.4,mac=auto,mode=bridged --net 1:network=n -n node1 ${NEW}
gnt-instance add -t diskless -g default -I hail --opportunistic-locking --no-start --ignore-ipolicy --no-conflicts-check ${NEW}
gnt-instance add -t diskless -n node1 -O a=b --os-parameters-private=c=d --os-parameters-secret=e=f -c yes --no-install ${NEW}
gnt-instance change-group --to a,b -I hail --early-release inst1
gnt-instance deactivate-disks -f inst1
gnt-instance failover -f -n node2 --ignore-ipolicy --shutdown-timeout=4 inst1
gnt-instance grow-disk --absolute --no-wait-for-sync inst1 0 1g
gnt-instance migrate -f --non-live -n node2 --allow-failover --no-runtime-changes inst1
gnt-instance migrate -f --migration-mode=live -I hail inst1
gnt-instance modify -B minmem=1g,maxmem=2g,vcpus=default -H kernel_path=/x,acpi=default -m 128 inst1
gnt-instance modify --disk add:size=1g,vg=x,name=n --disk attach:name=abc --disk remove inst1
gnt-instance modify --disk 0:mode=ro --disk 1:remove --disk -1:detach --disk 2:add,size=1g inst1
gnt-instance modify --disk foo:name=n --net name1:remove inst1
gnt-instance modify --net add:ip=1.2.3.4,mac=auto --net remove inst1
gnt-instance modify --net 0:link=br1,ip=none --net 1:modify,vlan=5 inst1
gnt-instance modify -t drbd -n node2 --no-wait-for-sync inst1
gnt-instance modify -o noop --force-variant -O a=b,-c --os-parameters-private=d=e inst1
gnt-instance modify --offline inst1
gnt-instance modify --online --new-primary=node2 inst1
gnt-instance move -f -n node2 --compress=gzip --shutdown-timeout=5 --ignore-consistency inst1
gnt-instance reboot -t soft --ignore-secondaries --shutdown-timeout=3 inst1
gnt-instance recreate-disks --disk 0:size=1g --disk 1:spindles=3 -n node1:node2 inst1
gnt-instance reinstall -f -o noop --force-variant -O a=b inst1
gnt-instance remove -f --shutdown-timeout=3 --ignore-failures inst1
gnt-instance replace-disks -p --disks=0,1 inst1
gnt-instance replace-disks -n node3 --early-release inst1
gnt-instance replace-disks -a inst1
gnt-instance shutdown --force-multiple --timeout=5 --ignore-offline --no-remember inst1 inst2
gnt-instance startup -f --paused -H kernel_path=/x inst1
gnt-instance add-tags inst1 a b
gnt-network add --network=10.9.0.0/24 --gateway=10.9.0.1 --network6=fd00::/64 --add-reserved-ips=10.9.0.5,10.9.0.6 --tags=a,b net1
gnt-network modify --gateway=10.9.0.2 -m none --remove-reserved-ips=10.9.0.7 net1
gnt-network connect -N vlan=5,mode=openvswitch,link=ovs --no-conflicts-check net1 default rack2
gnt-network disconnect net1 default
gnt-network remove -f net1
gnt-node evacuate -f -p -I hail node2
gnt-node failover -f --ignore-consistency node1
gnt-node migrate -f --migration-mode=live --ignore-ipolicy node1
gnt-node modify -C yes -D no --master-capable=no -s 1.2.3.4 --auto-promote node4
gnt-node modify --node-parameters=spindle_count=default --disk-state=plain/a:disk_reserved=5 --disk-state=plain/b:disk_reserved=6 node4
gnt-node modify-storage --allocatable=no node1 lvm-pv /dev/sda
gnt-node repair-storage --ignore-consistency node1 lvm-vg xenvg
gnt-node power -f --ignore-status --oob-timeout=5 --power-delay=1.5 cycle node4
gnt-node power -f off node1 node2
gnt-node powercycle --yes -f node4
gnt-node remove node4
gnt-node restricted-command --sync x node1 node2
gnt-node volumes -o node,size node1
gnt-node list-storage -t file node1
gnt-node health node1
gnt-os modify --hidden=yes --blacklisted=no -O a=b noop
gnt-os modify -H -kvm noop
gnt-os diagnose
gnt-storage diagnose
`

ganetiTest('every command hands over the same opcodes', async () => {
  const lines = LINES.trim().split('\n')
  // The reason tells later what came of which line.
  const words = lines.map((line, at) => line.split(' ').toSpliced(2, 0, `--reason=${at}`))
  await runTheirs(words)
  const theirs = byReason(master.submitted.splice(0))
  for (const line of words) await runCli(client, line)
  const ours = byReason(master.submitted.splice(0))
  const displayed = (found: Map<number, unknown[]>) => lines.map((line, at) => [line, found.get(at)])
  expect(displayed(ours)).toEqual(displayed(theirs))
  expect(lines.filter((_, at) => !theirs.has(at))).toEqual([])
})

/** Not waited for with the event loop held up: the master is served here. */
async function runTheirs(words: readonly (readonly string[])[]): Promise<void> {
  const env = { ...process.env, GANETI_ROOTDIR: path.join(root, HOST), GANETI_HOSTNAME: HOST }
  const child = spawn(PYTHON, [path.join(__dirname, 'ganeti_commands.py'), GANETI_PROGRAMS], {
    env,
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  child.stdin.end(JSON.stringify(words))
  expect(await ended).toBe(0)
}

function byReason(jobs: readonly (readonly WireOpCode[])[]): Map<number, unknown[]> {
  const found = new Map<number, unknown[]>()
  for (const ops of jobs) {
    const at = Number((ops[0]?.['reason'] as string[][] | undefined)?.[0]?.[1])
    found.set(at, [...(found.get(at) ?? []), ops.map(comparable)])
  }
  return found
}

/** Parameters whose defaults differ in 3.1. Debian's 3.0 programs always send them. */
const NEWER = ['reason', 'name_check', 'ip_check', 'hotplug', 'hotplug_if_possible']

const NOTHING = ['null', '{}']
const UNSAID: Readonly<Record<string, unknown>> = {
  debug_level: 0,
  dry_run: false,
  ignore_soft_errors: false,
  name: '',
}

/** Theirs send some numbers as text, and empty dictionaries for nothing. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable)
  if (typeof value === 'string') return /^-?\d+$/.test(value) ? Number(value) : value
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([name]) => !NEWER.includes(name))
  const kept = entries.filter(([name, part]) => !NOTHING.includes(JSON.stringify(part)) && part !== UNSAID[name])
  return Object.fromEntries(kept.map(([name, part]) => [name, comparable(part)]))
}
