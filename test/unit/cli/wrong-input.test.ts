// The programs refuse wrong input before they submit anything, and the text names the mistake.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { FakeMaster, ReadingMaster } from '../../support/fake-master'
import { runCli } from '../../support/run-cli'

const FILES: Readonly<Record<string, string>> = { nonsense: 'nonsense', list: '[1]', unnamed: '[{"a": 1}]' }
let folder: string
beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-wrong-'))
  for (const [name, text] of Object.entries(FILES)) fs.writeFileSync(path.join(folder, name), text)
})
afterAll(() => fs.rmSync(folder, { recursive: true }))

async function run(line: string, answers: string[] = []) {
  const master = new ReadingMaster([{ id: 7 }, { id: 8 }, { id: 9 }])
  const words = line.split(' ').map((word) => word.replace('FOLDER', folder))
  return { ops: master.submitted, ...(await runCli(master, words, { answers })) }
}

const BOUNDS = '--ipolicy-bounds-specs'

const WRITE_HV = 'write -H HYPERVISOR:name=value, where HYPERVISOR is one of chroot, fake, kvm, lxc, xen-hvm, xen-pvm'

const COMMAS = String.raw`write \, for a comma inside a value`

const WRONG: readonly (readonly [line: string, ends: string])[] = [
  ['gnt-cluster modify -B memory=default', "'memory' (value default) is not a valid size. error: Invalid format"],
  ['gnt-cluster modify -H no_kvm', "'kvm' needs parameters: kvm:key=value"],
  [
    'gnt-cluster modify --default-iallocators=bogus=hail',
    "--default-iallocators: there is no kind 'bogus', only allocate, multi-allocate, relocate, node-evacuate, change-group, balance, capacity",
  ],
  ['gnt-node add 9999', "Invalid hostname '9999': a node is added by its name"],
  ['gnt-node add a_b/c', "Invalid hostname 'a_b/c': a node is added by its name"],
  ['gnt-cluster modify -N bogus=1', "Parameter Error: Unknown parameter 'bogus'"],
  ['gnt-cluster modify --uid-pool=x', `Invalid user-id value for lower boundary of user-id range: 'x' is not a number`],
  [
    'gnt-cluster modify --add-uids=1-x',
    `Invalid user-id value for higher boundary of user-id range: 'x' is not a number`,
  ],
  ['gnt-cluster modify --uid-pool=1-2-3', "Only one hyphen allowed: ['1', '2', '3']"],
  ['gnt-cluster modify --ipolicy-std-specs=bogus=1', "Parameter Error: Unknown parameter 'bogus'"],
  [
    'gnt-cluster modify --ipolicy-std-specs=memory-size=x',
    'Invalid parameter memory-size (x) in std instance specs: Invalid format',
  ],
  [`gnt-cluster modify ${BOUNDS} default`, 'Invalid key in bounds instance specifications: default'],
  [`gnt-group add ${BOUNDS} bogus:memory-size=1 g`, 'Invalid key in bounds instance specifications: bogus'],
  [
    `gnt-group modify ${BOUNDS} min:memory-size=1,disk-size=1,disk-count=1,cpu-count=1 g`,
    'Missing parameters in ipolicy spec min: nic-count, spindle-use',
  ],
  ['gnt-cluster modify --data-collector-interval=drbd=x', "Can't transform all values to integers: {'drbd': 'x'}"],
  ['gnt-cluster modify --enabled-data-collectors=drbd=maybe', "drbd is true or false, not 'maybe'"],
  [`gnt-instance modify -H kernel_args=a=1,1,1 x`, `Duplicate key '1' in option -H; ${COMMAS}'`],
  ['gnt-os modify -O  noop', 'At least one of OS parameters or hypervisor parameters must be passed'],
  ['gnt-os modify -H no_kvm noop', "'kvm' needs parameters: kvm:key=value"],
  ['gnt-instance add -t plain --disk no_0 x', 'Invalid disk/0 value: expected dict, got False'],
  ['gnt-instance add -t plain --disk -1:size=1g x', 'Invalid disk index passed: -1 is below 0, which is the first'],
  [
    'gnt-instance add -t plain --disk 999999999999:size=1g x',
    'Invalid disk index passed: 999999999999: an instance has at most 16, from 0 to 15',
  ],
  ['gnt-backup import --net 8:link=y x', 'Invalid NIC index passed: 8: an instance has at most 8, from 0 to 7'],
  ['gnt-instance add -t plain --disk 0:adopt=lv,size=1g x', "Only one of 'size' and 'adopt' allowed (disk 0)"],
  ['gnt-instance add -t diskless --net x:link=y x', `Invalid NIC index passed: 'x' is not a number`],
  ['gnt-instance add -t diskless --net 0:bogus=1 x', "Parameter Error: Unknown parameter 'bogus'"],
  ['gnt-instance add -t diskless -H no_kvm x', 'Invalid kvm value: expected dict, got False'],
  [
    'gnt-instance add -t plain --disk size=1g x',
    "Invalid disk index passed: 'size=1g' is not a number, write --disk 0:size=1g for the first one",
  ],
  ['gnt-instance add -t diskless -H acpi=true x', `There is no hypervisor 'acpi=true': ${WRITE_HV}`],
  ['gnt-cluster modify -H acpi=true', `There is no hypervisor 'acpi=true': ${WRITE_HV}`],
  ['gnt-os modify -H acpi=true noop', `There is no hypervisor 'acpi=true': ${WRITE_HV}`],
  [
    'gnt-instance move -f inst1',
    '--node: target_node is missing, and must be a text that is not empty: Destination node',
  ],
  [
    'gnt-instance shutdown --timeout=-1 inst1',
    "--timeout: timeout must be an integer of at least 0: Seconds before the guest is killed (given: '-1')",
  ],
  ['gnt-job cancel abc', "Invalid job ID passed: 'abc' is not a number; gnt-job list shows the jobs"],
  ['gnt-instance modify --disk no_0 x', 'Invalid device 0 value: expected dict, got False'],
  ['gnt-instance modify --disk remove:size=1g x', 'Not accepting parameters on removal/detach of device remove: size'],
  ['gnt-instance modify --net 0:add,remove x', 'Cannot add and remove device 0 at the same time'],
  ['gnt-instance recreate-disks --disk x inst1', `Invalid disk index passed: 'x' is not a number`],
  ['gnt-instance recreate-disks --disk no_0 inst1', 'Invalid disk/0 value: expected dict, got False'],
  ['gnt-instance replace-disks -p --disks=0,,1 inst1', `Invalid disk index passed: '' is not a number`],
  ['gnt-instance replace-disks -p --disks=1.5 inst1', `Invalid disk index passed: '1.5' is not a number`],
  [
    'gnt-instance replace-disks -n node3 -I hail inst1',
    'One and only one of the -p, -s, -a, -n and -I options must be passed',
  ],
  ['gnt-instance batch-create FOLDER/unnamed', 'Unknown fields in definition 0: a'],
  ['gnt-instance add-tags --from=/nosuch inst1', "ENOENT: no such file or directory, open '/nosuch'"],
  ['gnt-debug submit-job /nosuch', "ENOENT: no such file or directory, open '/nosuch'"],
  ['gnt-debug submit-job FOLDER/unnamed', "/unnamed' is not a list of opcodes, each with its OP_ID"],
  ['gnt-debug submit-job FOLDER/list', "/list' is not a list of opcodes, each with its OP_ID"],
  ['gnt-debug delay x', "Invalid duration 'x': say how many seconds, like 0.5"],
  ['gnt-filter add --predicates={"a":1}', '--predicates: give a list, like [["jobid", [">", "id", "watermark"]]]'],
  ['gnt-job autoarchive -1', `Invalid age '-1': say how old jobs must be, like 1d, or "all"`],
  [
    'gnt-network connect net1 default bridged br0',
    "Node group 'bridged' not found; the mode and the link are options: -N mode=bridged,link=br0 net1 default",
  ],
  [
    'gnt-network connect net1 routed',
    "Node group 'routed' not found; the mode and the link are options: -N mode=routed,link=br0 net1",
  ],
  ['gnt-network disconnect net1 default nosuch', "Node group 'nosuch' not found; gnt-group list shows them"],
  ['gnt-instance startup nosuch', "Instance 'nosuch' not known"],
  ['gnt-node migrate -f nosuch', 'Node name nosuch not found'],
  ['gnt-node failover -f nosuch', 'Node name nosuch not found'],
  ['gnt-node evacuate -f nosuch', 'Node name nosuch not found'],
  ['gnt-node restricted-command x nosuch', 'Node name nosuch not found'],
  [
    'gnt-node restricted-command -g nosuch x',
    "There is no such node in group 'nosuch'; gnt-node list shows those of the cluster",
  ],
]

test.each(WRONG)('%s', async (line, ends) => {
  const { exit, stderr, stdout, ops } = await run(line)
  expect([exit, stdout, ops]).toEqual([1, '', []])
  expect(stderr.slice(-ends.length - 1)).toBe(`${ends}\n`)
})

test('a file that is no JSON is named, with where it ends to be', async () => {
  const { exit, stderr, ops } = await run('gnt-debug submit-job FOLDER/nonsense')
  expect([exit, stderr, ops]).toEqual([1, expect.stringMatching(/^Can't read '.*nonsense': Unexpected token.*\n$/), []])
})

describe('gnt-instance reinstall', () => {
  test('of several instances is asked about even with --force', async () => {
    const refused = await run('gnt-instance reinstall -f inst1 inst2')
    expect([refused.exit, refused.ops]).toEqual([1, []])
    expect(refused.questions).toEqual([
      expect.stringMatching(/^Note: this will remove \*all\* data for the below instances/),
    ])
    const agreed = await run('gnt-instance reinstall -f inst1 inst2', ['y'])
    expect([agreed.exit, agreed.ops.length]).toEqual([0, 2])
    expect((await run('gnt-instance reinstall --force-multiple inst1 inst2')).ops).toHaveLength(2)
  })

  test('lets the user choose from the operating systems', async () => {
    const choose = async (answers: string[]) => {
      const oses = [['debootstrap', ['default', 'small']], ['noop', []]] // prettier-ignore
      const master = new FakeMaster([{ id: 7, result: oses }, { id: 8 }])
      const ended = await runCli(master, 'gnt-instance reinstall --select-os -f inst1'.split(' '), { answers })
      return { ...ended, ops: master.submitted.slice(1) }
    }
    const chosen = await choose(['1'])
    expect(chosen.stdout).toMatch(
      /^Available OS templates:\n {2}0: debootstrap\+default\n {2}1: debootstrap\+small\n {2}2: noop\n/,
    )
    expect(chosen.ops).toMatchObject([[{ OP_ID: 'OP_INSTANCE_REINSTALL', os_type: 'debootstrap+small' }]])
    for (const answers of [['x'], []]) {
      const aborted = await choose(answers)
      expect([aborted.exit, aborted.stderr, aborted.ops]).toEqual([1, 'User aborted reinstall, exiting\n', []])
    }
  })
})
