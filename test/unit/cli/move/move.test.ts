// An instance moves between two clusters, and is never lost between them.
import { BROKEN, Clusters, PREREQ } from './clusters'

const BEGIN = ['source PUT /2/instances/vm1/prepare-export?mode=remote', 'source GET /2/instances/vm1/info?static=1']
const SENDING = ['source PUT /2/instances/vm1/shutdown', 'source PUT /2/instances/vm1/export']
const CREATE = 'destination POST /2/instances'
const [START, REMOVE] = ['source PUT /2/instances/vm1/startup', 'source DELETE /2/instances/vm1']
const TAKE_BACK = 'destination DELETE /2/instances/vm1'

test('an instance is stopped, sent, and removed from its old cluster when the new one has all of it', async () => {
  const clusters = new Clusters()
  const { exit, stdout } = await clusters.move()
  expect(exit).toBe(0)
  expect(stdout).toMatch(/^vm1: Stopping it in source cluster a\.example\.com$/m)
  expect(stdout).toMatch(/^vm1: Success$/m)
  expect(clusters.done).toEqual([...BEGIN, CREATE, ...SENDING, REMOVE])
  expect(clusters.bodies.get(CREATE)).toEqual({
    ...{ __version__: 1, mode: 'remote-import', name: 'vm1', disk_template: 'plain', os: 'debian', hypervisor: 'kvm' },
    disks: [{ size: 1024, mode: 'rw' }],
    nics: [{ name: 'nic', ip: '10.0.0.9', mac: 'aa:00:00:00:00:01', network: 'blue' }],
    ...{ start: true, ip_check: false, tags: ['web'], compress: 'none', opportunistic_locking: false },
    ...{ hvparams: { acpi: false }, beparams: { vcpus: 2 }, osparams: { size: 'small' } },
    ...{ source_handshake: [0, 'digest', 'salt'], source_x509_ca: 'CA of the sender', source_instance_name: 'vm1' },
  })
  expect(clusters.bodies.get('source PUT /2/instances/vm1/export')).toEqual({
    ...{
      mode: 'remote',
      destination: [['10.0.0.1', 4711, 'magic', 'digest', 'salt']],
      shutdown: true,
      compress: 'none',
    },
    ...{ remove_instance: false, x509_key_name: ['key', 'd', 's'], destination_x509_ca: 'CA of the receiver' },
  })
})

test('what the user wants otherwise is so in the new cluster', async () => {
  const clusters = new Clusters()
  const words = ['--dest-instance-name=vm2', '--dest-primary-node=n1', '--dest-disk-template=file', '--compress=gzip']
  await clusters.move(...words, '-Bvcpus=4', '-Hacpi=true', '-Osize=big', '--net=0:network=,link=br1')
  expect(clusters.bodies.get(CREATE)).toMatchObject({
    ...{ name: 'vm2', pnode: 'n1', disk_template: 'file', compress: 'gzip', nics: [{ link: 'br1' }] },
    ...{ beparams: { vcpus: 4 }, hvparams: { acpi: true }, osparams: { size: 'big' } },
  })
  expect(clusters.bodies.get(CREATE)?.['nics']).not.toEqual([expect.objectContaining({ network: expect.anything() })])
})

test('a disk of external storage keeps its provider, and one that becomes another disk has none', async () => {
  const clusters = new Clusters()
  const disk = { size: 1024, mode: 'rw', dev_type: 'ext', logical_id: ['san', 'name'] }
  clusters.info = { ...clusters.info, disk_template: 'ext', disks: [disk] }
  await clusters.move('--keep-source-instance')
  expect(clusters.bodies.get(CREATE)).toMatchObject({ disks: [{ size: 1024, provider: 'san' }] })
  const plain = new Clusters()
  plain.info = clusters.info
  await plain.move('--dest-disk-template=plain')
  expect(plain.bodies.get(CREATE)?.['disks']).toEqual([{ size: 1024, mode: 'rw' }])
})

test('a disk keeps its own parameters, under the names of its new template, but a Ganeti does not take them', async () => {
  const parameters = [
    { name: 'stripes', value: 2, source: 'disk' },
    { name: 'stripe-size', value: 64, source: 'group' },
  ]
  const clusters = new Clusters()
  clusters.info = { ...clusters.info, disks: [{ size: 1024, mode: 'rw', dev_type: 'plain', parameters }] }
  await clusters.move('--keep-source-instance')
  expect(clusters.bodies.get(CREATE)?.['disks']).toEqual([{ size: 1024, mode: 'rw', stripes: 2 }])
  const [mirror, theirs] = [new Clusters(), new Clusters()]
  mirror.info = theirs.info = clusters.info
  await mirror.move('--dest-disk-template=drbd')
  expect(mirror.bodies.get(CREATE)?.['disks']).toEqual([{ size: 1024, mode: 'rw', 'data-stripes': 2 }])
  theirs.isGantry = false
  const { stdout } = await theirs.move()
  expect(theirs.bodies.get(CREATE)?.['disks']).toEqual([{ size: 1024, mode: 'rw' }])
  expect(stdout).toMatch(/no parameters for single disks, so these get the values of its groups: stripes=2 of disk 0$/m)
})

test('an instance that is kept runs again in its old cluster', async () => {
  const clusters = new Clusters()
  expect((await clusters.move('--keep-source-instance')).exit).toBe(0)
  expect(clusters.done).toEqual([...BEGIN, CREATE, ...SENDING, START])
})

test('one that was stopped is neither stopped nor started', async () => {
  const clusters = new Clusters()
  clusters.info = { ...clusters.info, config_state: 'down' }
  await clusters.move('--keep-source-instance')
  expect(clusters.done).toEqual([...BEGIN, CREATE, 'source PUT /2/instances/vm1/export'])
  expect(clusters.bodies.get(CREATE)).toMatchObject({ start: false })
})

test.each([
  ['another secret', "Hash didn't match, clusters don't share the same domain secret", 'wrong_input'],
  ['no room', 'Not enough disk space on target node n1', 'insufficient_resources'],
])('with %s in the new cluster nothing happens in either', async (_, text, code) => {
  const clusters = new Clusters()
  clusters.creations = [PREREQ(text, code)]
  const { exit, stderr } = await clusters.move()
  expect([exit, stderr]).toEqual([
    1,
    expect.stringContaining(`vm1: Failed (Job 2 of destination cluster b.example.com`),
  ])
  expect(stderr).toContain(text)
  expect(clusters.done).toEqual([...BEGIN, CREATE])
})

test('an instance that is not there, or there already, is told before anything is done', async () => {
  const clusters = new Clusters()
  expect((await clusters.move('vm3')).stderr).toMatch(/no instance vm3 in source cluster a\.example\.com/)
  clusters.destination.add('vm1')
  expect((await clusters.move()).stderr).toMatch(
    /vm1 in destination cluster b\.example\.com already; --dest-instance-name/,
  )
  expect(clusters.done).toEqual([])
})

test('a connection that breaks leaves nothing in the new cluster, and then the old one starts it again', async () => {
  const clusters = new Clusters()
  clusters.creations = [BROKEN]
  clusters.exported = { error: ['OpExecError', ['Export failed, errors in disk export: disk(s) 0']] }
  const { exit, stderr } = await clusters.move()
  expect(exit).toBe(1)
  expect(stderr).toMatch(/Not all disks of instance vm1 were imported; Job 4 of source .* disk\(s\) 0\)$/m)
  expect(clusters.done).toEqual([...BEGIN, CREATE, ...SENDING, TAKE_BACK, START])
})

test('data that was not read to its end by the new cluster is not removed from the old one', async () => {
  const clusters = new Clusters()
  clusters.creations = [BROKEN]
  await clusters.move()
  expect(clusters.done).toEqual([...BEGIN, CREATE, ...SENDING, TAKE_BACK, START])
})

test('what cannot be taken back is named, and is not started twice', async () => {
  const clusters = new Clusters()
  clusters.creations = [BROKEN]
  clusters.removed = { error: ['OpExecError', ['node1 is away']] }
  const { stderr } = await clusters.move()
  expect(stderr).toMatch(/still in destination cluster b.example.com: remove it there with gnt-instance remove vm1/)
  expect(stderr).toMatch(/it stays stopped in source cluster a\.example\.com/)
  expect(clusters.done).not.toContain(START)
})

test('a new cluster that falls silent may have all of it, so the old one keeps it, stopped', async () => {
  const clusters = new Clusters()
  clusters.creations = ['silence']
  const { stderr } = await clusters.move()
  expect(stderr).toMatch(/its job 2 may still go on; look for vm1 in destination cluster b\.example\.com/)
  expect(stderr).toMatch(/it stays stopped in source cluster/)
  expect(clusters.done).toEqual([...BEGIN, CREATE, ...SENDING])
})

test('one that is not removed at last is told', async () => {
  const clusters = new Clusters()
  clusters.removed = { error: ['OpExecError', ['node1 is away']] }
  const { exit, stderr } = await clusters.move()
  expect([exit, stderr]).toEqual([1, expect.stringMatching(/has moved to destination .* still in source cluster a/)])
})

test('busy nodes are tried again, so often as is wished, and then waited for', async () => {
  const clusters = new Clusters()
  const busy = PREREQ('no free locks', 'temp_insufficient_resources')
  clusters.creations = [busy, busy, { result: ['node1'] }]
  const { exit, stdout } = await clusters.move(
    '--iallocator=hail',
    '--opportunistic-tries=2',
    '--opportunistic-delay=7',
  )
  expect([exit, stdout]).toEqual([0, expect.stringMatching(/trying again in 7 s/)])
  expect(clusters.done.filter((one) => one === CREATE)).toHaveLength(3)
  expect(clusters.bodies.get(CREATE)).toMatchObject({ opportunistic_locking: false })
})

test('of several instances each ends for itself, and -v shows what jobs say', async () => {
  const clusters = new Clusters()
  const { exit, stdout, stderr } = await clusters.move('-v', '-p2', 'vm1', 'vm9')
  expect(exit).toBe(1)
  expect(stdout).toMatch(/^vm1: source cluster a\.example\.com: all is well$[^]*^vm1: Success$/m)
  expect(stderr).toMatch(/^vm9: Failed \(There is no instance vm9/m)
})

test.each([
  [['--iallocator=hail', '--dest-primary-node=n1'], /exclude each other/],
  [['--opportunistic-tries=1'], /only be used with an iallocator/],
  [['--opportunistic-delay=5'], /only be specified when opportunistic tries/],
  [['-p0'], /must be >= 1/],
  [['-Bvcpus=1', 'vm1', 'vm2'], /moving exactly one instance/],
  [['vm1', 'vm1'], /named twice/],
])('%j is refused before a cluster is asked', async (words, text) => {
  const { exit, stderr } = await new Clusters().move(...words)
  expect([exit, stderr]).toEqual([2, expect.stringMatching(text)])
})

test('without an allocator there, the new cluster is told a node', async () => {
  const clusters = new Clusters()
  clusters.iallocator = ''
  expect((await clusters.move()).stderr).toMatch(/has no default iallocator: give --iallocator, or --dest-primary-node/)
  expect((await clusters.move('--dest-primary-node=n1')).exit).toBe(0)
})

test('more NICs than it has are not made', async () => {
  expect((await new Clusters().move('--net=1:link=br1')).stderr).toMatch(/has 1 NICs, and --net changes NIC 1/)
})

test('its help begins as a program of its own', async () => {
  const { stdout } = await new Clusters().move('--help')
  expect(stdout).toMatch(
    /^ {2}move-instance \[opts\.\.\.\] <source-cluster> <destination-cluster> <instance-name>\.\.\.$/m,
  )
})
