// The configurations that come with Ganeti's own tests, one of each version, on a master that is taken over: they are checked, converted
// where they are old, changed, and given back, and nothing is lost on the way.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { masterConfig, takeInventory, type Report } from '../../../../src/bootstrap/adoption/inventory'
import { convertConfig } from '../../../../src/bootstrap/convert-config'
import { recordValues } from '../../../../src/config/records'
import { openStore } from '../../../../src/config/store'
import { systemDisk as disk } from '../../../../src/lib/disk'
import { silentLog as log } from '../../../../src/lib/log'
import { type Paths, pathsOf } from '../../../../src/lib/paths'
import { seededRandom } from '../../../../src/lib/random'
import { HYPERVISORS } from '../../../../src/model/constants/hypervisors'
import { ROLES } from '../../../../src/roles/table'
import { clockAt } from '../../../support/instant-clock'
import {
  configChanges,
  MASTER,
  OLD_VERSIONS,
  recordedConfig,
  recordedVersions,
  VERSIONS,
} from '../../../support/recorded-configurations'
import { FakeNodes } from '../../daemons/wconfd/support'
import { Machine, Machines } from './support'

const NODES = [1, 2, 3].map((number) => `node${number}.example.com`)
const OURS = ['kvm', 'fake']

let folder: string
let paths: Paths
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gar-'))
  // Below a folder of its own, and yet no virtual node.
  paths = { ...pathsOf(path.join(folder, MASTER), MASTER), root: '' }
  fs.mkdirSync(paths.queueDir, { recursive: true })
  fs.writeFileSync(paths.serverCert, 'pem')
  fs.writeFileSync(paths.ssconf('master_node'), `${MASTER}\n`)
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

const clock = () => clockAt(2e12)
const random = seededRandom(4)
const put = (text: string) => fs.writeFileSync(paths.configFile, text)
const present = () => fs.readFileSync(paths.configFile, 'utf8')
const convert = (down = false) =>
  convertConfig({ paths, disk, random, clock: clock(), down, dryRun: false, verify: true, ignoreHostname: false })

async function check(hypervisors: readonly string[]): Promise<Report> {
  const nodes = new FakeNodes()
  nodes.answer = () => Promise.resolve(3000000)
  const config = await masterConfig({ paths, disk, random })
  const shell = new Machines(Object.fromEntries(NODES.map((name) => [name, new Machine()])))
  for (const machine of Object.values(shell.all))
    machine.otherwise = { 'volume_group.xenvg': 'yes', 'bridge.br974': 'yes' }
  return takeInventory({
    to: 'gantry',
    paths,
    disk,
    random,
    nodes,
    config,
    shell,
    roles: ROLES,
    hypervisors,
    given: [],
  })
}

/** As a master does: a tag, and a parameter of each instance. Answers with what then has to be otherwise than in `before`. */
async function work(before: string): Promise<string[]> {
  const store = await openStore({ disk, paths, clock: clock(), random, log })
  await store.change([['addTags', 'cluster', '', ['adopted']]])
  const uuids = recordValues(store.current().instances).map(({ uuid }) => uuid)
  for (const uuid of uuids) await store.change([['patchInstance', uuid, { beparams: { vcpus: 3 } }]])
  await store.close(true)
  expect(before).not.toContain('adopted')
  return ['cluster.tags', ...uuids.map((uuid) => `instances.${uuid}.beparams.vcpus`)].sort()
}

test('each recorded configuration is one of those that are tried here', () => {
  expect(recordedVersions().sort()).toEqual([...OLD_VERSIONS, ...VERSIONS].sort())
})

const NO_XEN = expect.stringMatching(/instance1.*: there is no hypervisor xen-pvm; move or remove them first/) as string

test.each(VERSIONS)(
  'a master with a configuration of %s is taken over as it is, and loses nothing',
  async (version) => {
    const before = recordedConfig(version)
    put(before)
    expect(await check(OURS)).toMatchObject({
      ...{ config_version: version, instances: 3, problems: [NO_XEN], notes: [] },
      nodes: NODES.map((name) => ({ name, product: 'ganeti', problems: [], notes: [] })),
    })
    expect(await check(HYPERVISORS)).toMatchObject({ problems: [], notes: [] })
    expect(present()).toBe(before)
    const desired = await work(before)
    expect(configChanges(before, present()).sort()).toEqual(desired)
  },
)

test.each(OLD_VERSIONS)(
  'one of %s is converted first, and then loses nothing, nor when it goes to 3.0 and back',
  async (version) => {
    put(recordedConfig(version))
    await expect(check(OURS)).rejects.toThrow(
      `The configuration is of Ganeti ${version}, and 3.0 and 3.1 can be loaded`,
    )
    expect(await convert()).toMatchObject({ from: version, to: '3.1', problems: [] })
    const before = present()
    expect(await check(HYPERVISORS)).toMatchObject({ config_version: '3.1', instances: 3, problems: [], notes: [] })
    const desired = await work(before)
    expect(configChanges(before, present()).sort()).toEqual(desired)
    expect(await convert(true)).toMatchObject({ to: '3.0', problems: [] })
    expect(await convert()).toMatchObject({ from: '3.0', problems: [] })
    expect(configChanges(before, present()).sort()).toEqual(desired)
  },
)
