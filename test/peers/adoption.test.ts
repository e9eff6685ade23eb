// The configurations that come with Ganeti's own tests go over from a real Ganeti to ours, which works with them, and back.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { isObject } from '../../src/lib/shapes/shape'
import { seededRandom } from '../../src/lib/random'
import { createCertificate } from '../../src/lib/tls'
import { downgradeConfig } from '../../src/config/conversion/downgrade'
import type { Raw } from '../../src/config/conversion/raw'
import { upgradeConfig } from '../../src/config/conversion/upgrade'
import { encodeConfig } from '../../src/config/encode'
import { loadConfig } from '../../src/config/upgrade'
import { allOpcodes } from '../../src/opcodes/all'
import { startCluster, type EmbeddedCluster } from '../support/embedded-cluster'
import { GANETI_MASTER_PACKAGES, GanetiMaster, ganetiMasterPresent } from '../support/ganeti-master'
import { GANETI_PROGRAMS, ganetiTest, PYTHON } from '../support/ganeti-programs'
import { testWith } from '../support/needs'
import { configChanges, MASTER, OLD_VERSIONS, recordedConfig, VERSIONS } from '../support/recorded-configurations'

const random = seededRandom(6)

/** What ours makes of a configuration, as one that Debian's Ganeti can read. */
function goneOverAndBack(text: string): string {
  const raw = JSON.parse(text) as Raw
  upgradeConfig(raw, random)
  downgradeConfig(raw)
  return encodeConfig(loadConfig(JSON.stringify(raw), random).config)
}

ganetiTest(
  'Ganeti itself finds nothing wrong with what ours has made of any of them, and changes nothing in it',
  () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gv-'))
    try {
      const all = [...OLD_VERSIONS, ...VERSIONS].map((version) => {
        const [file, text] = [path.join(folder, version), goneOverAndBack(recordedConfig(version))]
        fs.writeFileSync(file, text)
        return { version, file, text }
      })
      const words = [path.join(__dirname, 'ganeti_verifies.py'), GANETI_PROGRAMS, ...all.map(({ file }) => file)]
      const { status, stdout, stderr } = spawnSync(PYTHON, words, { encoding: 'utf8' })
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      expect(JSON.parse(stdout)).toEqual(all.map(() => []))
      const changed = all.map(({ version, file, text }) => [
        version,
        configChanges(text, fs.readFileSync(file, 'utf8')),
      ])
      expect(changed).toEqual(all.map(({ version }) => [version, []]))
    } finally {
      fs.rmSync(folder, { recursive: true })
    }
  },
)

ganetiTest('all opcodes that Ganeti does not have are among the jobs that go back to it', () => {
  const theirs = fs.readFileSync(path.join(GANETI_PROGRAMS, 'ganeti/opcodes.py'), 'utf8')
  const classOf = (id: string) =>
    `class ${id.replace(/_?([A-Z])([A-Z]*)/g, (_, a: string, b: string) => a + b.toLowerCase())}(`
  const missing = [...allOpcodes.values()].filter(({ id, testOnly }) => !testOnly && !theirs.includes(classOf(id)))
  expect(missing.map(({ id }) => id).sort()).toEqual(OWN.map(([name]) => `OP_${name}`).sort())
})

let real: GanetiMaster | undefined
let ours: EmbeddedCluster | undefined
afterAll(async () => {
  await ours?.remove()
  await real?.remove()
})

const LISTS = [
  'instance list --no-headers --separator=, -o name,pnode,snodes,os,hypervisor,admin_state,disk_template,disk.sizes,nic.macs,be/vcpus,tags',
  'node list --no-headers --separator=, -o name,role,group,pip,sip,tags,ndparams',
  'group list --no-headers --separator=, -o name,alloc_policy,node_list,pinst_list,ndparams,tags',
  'network list --no-headers --separator=, -o name,network,map,tags',
  'cluster list-tags',
]
const JOBS = 'job list --no-headers --separator=, -o id,status,summary'

testWith(ganetiMasterPresent, GANETI_MASTER_PACKAGES)(
  "a real Ganeti's master works with one, ours goes on with all of it, and so does the real one afterwards",
  async () => {
    real = new GanetiMaster(MASTER)
    const { paths } = real
    fs.writeFileSync(paths.configFile, ofThisMachine(recordedConfig('3.0')))
    fs.writeFileSync(paths.hmacKey, 'key\n')
    for (const file of [paths.serverCert, paths.clientCert]) fs.writeFileSync(file, await createCertificate())
    await real.start()
    for (const line of ['cluster add-tags theirs', 'instance add-tags instance1.example.com theirs']) real.gnt(line)
    const [lists, jobs] = [LISTS.map(real.gnt, real), real.gnt(JOBS)]
    expect(jobs).toBe('1,success,TAGS_SET\n2,success,TAGS_SET\n')
    await real.stop()
    const before = fs.readFileSync(paths.configFile, 'utf8')

    ours = await startCluster(['--state', paths.dataDir])
    expect(await Promise.all(LISTS.map(ourList))).toEqual(lists)
    expect(await ourList(JOBS)).toBe(jobs)
    for (const line of WORK) expect(await ours.gnt(...line.split(' '))).toMatchObject({ code: 0 })
    for (const [name, fields] of OWN) expect(await ours.run({ OP_ID: `OP_${name}`, ...fields })).toMatchObject(ENDS)
    const [listsOfOurs, jobsOfOurs] = [await Promise.all(LISTS.map(ourList)), await ourList(JOBS)]
    const directory = path.join(ours.root, MASTER, 'var/lib/ganeti')
    await ours.stop()

    for (const name of fs.readdirSync(directory)) {
      fs.rmSync(path.join(paths.dataDir, name), { recursive: true, force: true })
      fs.cpSync(path.join(directory, name), path.join(paths.dataDir, name), { recursive: true })
    }
    await real.start()
    expect(LISTS.map(real.gnt, real)).toEqual(listsOfOurs)
    // Ganeti keeps jobs whose opcode it does not know, without knowing what they were about.
    const jobsOfBoth = jobsOfOurs?.replace(GANTRY_ONLY, '$1')
    const ids = real.gnt('job list --no-headers -o id').trim().split('\n')
    const own = ids.slice(-OWN.length)
    expect([jobsOfBoth === jobsOfOurs, real.gnt(JOBS)]).toEqual([false, jobsOfBoth])
    expect(own.map((id) => /Opcode: OP_(\w+)/.exec(real?.gnt(`job info ${id}`) ?? '')?.[1])).toEqual(
      OWN.map(([name]) => name),
    )
    expect(real.gnt('instance add-tags instance2.example.com again')).toBe('')
    expect(real.gnt(JOBS)).toBe(`${jobsOfBoth}${ids.length + 1},success,TAGS_SET\n`)
    real.gnt(`job archive ${own.join(' ')}`)
    expect(real.gnt(`job list --no-headers -o id,archived ${own.join(' ')}`).match(/\S+/g)).toEqual(
      own.flatMap((id) => [id, 'Y']),
    )
    await real.stop()
    expect(configChanges(before, fs.readFileSync(paths.configFile, 'utf8')).map(withoutUuid)).toEqual(CHANGED)
  },
)

// `gnt job list` names the object of a job, where `gnt-job list` says what Ganeti's says.
const ourList = async (line: string) =>
  (await ours?.gnt(...line.split(' ')))?.stdout.replace(/(TAGS_SET)\(.*\)$/gm, '$1')

/** One job each. */
const WORK = [
  'cluster add-tags ours',
  'instance modify -B vcpus=3 instance2.example.com',
  'group modify --alloc-policy=last_resort another',
  'network add --network=10.7.0.0/24 net7',
  'node modify --node-parameters=oob_program=/bin/true node3.example.com',
  'group modify -D plain:stripe-size=64 default',
  'instance modify --disk 0:resync-rate=2048 instance1.example.com',
  'instance shutdown instance1.example.com',
]
/** One job of each opcode that Ganeti does not have. */
const ON_ONE = { instance_name: 'instance1.example.com', disks: [[0, { snapshot_name: 'before' }]] }
const OWN = [
  ['CLUSTER_BALANCE', {}],
  ['CLUSTER_CAPACITY', { spec: { disk_template: 'plain', memory_mib: 128, vcpus: 1, disks_mib: [1024] } }],
  ['CLUSTER_WHAT_IF', { nodes: ['node3.example.com'] }],
  ['INSTANCE_SNAPSHOT', ON_ONE],
  ['INSTANCE_ROLLBACK_SNAPSHOT', ON_ONE],
  ['INSTANCE_REMOVE_SNAPSHOT', ON_ONE],
  ['NETWORK_RENAME', { network_name: 'net7', new_name: 'net8' }],
  ['REPAIR_COMMAND', { node_name: 'node3.example.com', command: 'mend' }],
  ['INSTANCE_REPAIR', { instance_name: ON_ONE.instance_name }],
] as const
const GANTRY_ONLY = new RegExp(`\\b(${OWN.map(([name]) => name).join('|')})\\(.*\\)$`, 'gm')
/** Simulated nodes run no command of repair. */
const ENDS = { status: expect.stringMatching(/^(success|error)$/) as string }
const CHANGED = [
  'cluster.tags',
  'nodes.*.ndparams.oob_program',
  'nodegroups.*.diskparams.plain',
  'nodegroups.*.alloc_policy',
  'instances.*.admin_state',
  'instances.*.disks_active',
  'instances.*.beparams.vcpus',
  'instances.*.tags',
  'networks.*',
  'disks.*.params.resync-rate',
]

/** What objects are called in the file differs from run to run. */
const withoutUuid = (at: string) => at.replace(/\.[0-9a-f]{8}-[0-9a-f-]{27}/, '.*')

/** Nobody answers there, at once; and the volumes below the mirror have uuids, without which a real master does not start. */
function ofThisMachine(text: string): string {
  const { config } = loadConfig(text, random)
  const raw = JSON.parse(encodeConfig(config)) as Raw
  const nodes = isObject(raw['nodes']) ? Object.values(raw['nodes']).filter(isObject) : []
  for (const [at, node] of nodes.entries()) node['primary_ip'] = node['secondary_ip'] = `127.9.9.${at + 2}`
  return JSON.stringify(raw)
}
