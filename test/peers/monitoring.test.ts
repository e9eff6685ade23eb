// Ganeti's own clients of confd and mond ask our daemons: its confd-client, its collectors, and its hbal.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'
import { dataDir, eventually, nodeAddress, NODES } from '../support/faults'
import { GANETI_PACKAGES, GANETI_PROGRAMS, ganetiPresent, PYTHON } from '../support/ganeti-programs'
import { DEBIAN_HTOOLS, debianPresent, HTOOLS_PACKAGE } from '../support/htools'
import { MIRRORED_INSTANCE, copyMirroredState, startMirrored } from '../support/mirrored-state'
import { testWith } from '../support/needs'
import { mayRename, type Names, runNamed } from '../support/own-names'
import { PORT } from '../../src/model/constants/daemons'

const present = ganetiPresent && debianPresent() && mayRename
const peerTest = testWith(present, `${HTOOLS_PACKAGE} ${GANETI_PACKAGES}`)
const OURS = path.join(__dirname, '../../bin')
const DATA = path.join(__dirname, '../data/collectors')
const IP = '192.0.2.7'

let cluster: EmbeddedCluster
beforeAll(async () => {
  if (!present) return
  cluster = await startCluster(['--hypervisor', 'fake'])
  const common = { OP_ID: 'OP_INSTANCE_CREATE', mode: 'create', disk_template: 'diskless', os_type: 'gantry-tiny' }
  for (const at of [1, 2, 3])
    await cluster.run({
      ...{ ...common, instance_name: `vm${at}.gantry.local`, pnode: NODES[0], beparams: { memory: 64 } },
      ...{ disks: [], nics: at === 1 ? [{ ip: IP }] : [], ip_check: false, name_check: false },
    })
})
afterAll(() => (present ? cluster.remove() : undefined))

const named = (changed: Readonly<Record<string, string>> = {}): Names => ({
  hosts: { ...Object.fromEntries(NODES.map((name, at) => [name, nodeAddress(cluster, at)])), ...changed },
  hostname: NODES[0] ?? '',
})

/** The environment of programs on a node of a virtual cluster. */
const onNode = (root: string, node: string) => ({ GANETI_ROOTDIR: path.join(root, node), GANETI_HOSTNAME: node })

peerTest("Ganeti's confd-client gets an answer to each of its questions", () => {
  const [first, second, third] = NODES.map((_, at) => nodeAddress(cluster, at))
  const key = fs.readFileSync(path.join(dataDir(cluster, NODES[0] ?? ''), 'hmac.key'), 'utf8')
  const args = [path.join(GANETI_PROGRAMS, 'confd-client'), '-a', first ?? '', '--hmac', key, '-r', '20']
  const { status, stdout, stderr } = spawnSync(PYTHON, args, { encoding: 'utf8', timeout: 60_000 })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  const [answers = '', times] = stdout.split('- Timing tests\n')
  // Addresses come in the order of the nodes' random names.
  const lines = (text: string) => text.trim().split('\n').sort()
  const addresses = [first, second, third].map((address) => `  * ${address}`)
  expect(lines(answers)).toEqual(
    lines(
      [
        ...['- Checking confd results', '- Ping: OK', `- Master: OK (${NODES[0]})`],
        `- Master: OK (['${NODES[0]}', '${cluster.address.replace(/\d+$/, '254')}', '${first}'])`,
        ...['- Node role for master: OK', '- Node primary ip query: OK', ...addresses],
        ...['- Master candidates primary IP query: OK', ...addresses],
        ...['- Instance primary IP query: OK', `  * ${IP}`],
        // It forgets the addresses that it was told, and asks for none.
        ...['- Instance IP to node IP query: OK', '  * no mapping received'],
      ].join('\n'),
    ),
  )
  expect(times).toMatch(/ms per ping request\n.*ms per instance ips request\n$/)
})

/** What a collector reports, of both programs. */
function reports(names: Names, env: Record<string, string>, ...args: string[]): unknown {
  const [theirs, ours] = [
    [path.join(GANETI_PROGRAMS, 'mon-collector')],
    [process.execPath, path.join(OURS, 'mon-collector.js')],
  ].map((program) => {
    const { code, out, err } = runNamed(names, [...program, ...args], env)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    // Ganeti 3.0 says null of a volume that no instance has; later versions leave the name out, as we do.
    return { ...(JSON.parse(out.replaceAll(',"instance":null}', '}')) as object), timestamp: 0 }
  })
  expect(ours).toEqual(theirs)
  return theirs
}

peerTest("Ganeti's collectors learn from our confd whose disks they see, as ours do", async () => {
  const status = path.join(DATA, 'proc_drbd84.txt')
  const data = reports(named(), onNode(cluster.root, NODES[0] ?? ''), 'drbd', '-s', status)
  expect(data).toMatchObject({ data: { deviceInfos: expect.arrayContaining([expect.anything()]) as unknown } })

  const node = 'node2.gnt.example'
  const mirrored = await startMirrored()
  try {
    const volumes = path.join(mirrored.root, 'lvs')
    const disk = copyMirroredState(path.join(mirrored.root, 'again'))
    const recorded = fs.readFileSync(path.join(DATA, 'lvs_lv.txt'), 'utf8')
    fs.writeFileSync(volumes, recorded.replace(/;[^;]*\.disk0_data;/, `;${disk}.data;`))
    const names = { hosts: { [node]: mirrored.address }, hostname: node }
    // The folder of the recorded master, under the name of another node.
    fs.symlinkSync('node1.gnt.example', path.join(mirrored.root, node))
    const rows = reports(names, onNode(mirrored.root, node), 'lv', '-f', volumes, '-a', mirrored.address)
    expect(rows).toMatchObject({ data: [{ instance: MIRRORED_INSTANCE }, {}] })
  } finally {
    await mirrored.remove()
  }
})

/** Ganeti's hbal, with the loads that nodes tell. */
const hbal = (names: Names, from: string) => runNamed(names, [`${DEBIAN_HTOOLS}/hbal`, from, '--mond=yes', '-v'])

peerTest("Ganeti's hbal reads the loads that our nodes tell, from a live cluster", async () => {
  const load = async (at: number) =>
    (await fetch(`http://${nodeAddress(cluster, at)}:${PORT.mond}/1/report/default/cpu-avg-load`)).json()
  for (const at of NODES.keys())
    await eventually(`node ${at + 1} knows its load`, async () => 'cpu_total' in ((await load(at)) as Report).data)
  const sources = [`--luxi=${cluster.socket}`, `--master=${cluster.url.replace('//', `//admin:${cluster.password}@`)}`]
  for (const from of sources) {
    const { code, out, err } = hbal(named(), from)
    const warnings = err.replace(/^Warning: cluster has inconsistent data:\n( {2}- .*\n)+/m, '').trim()
    expect({ code, warnings }).toEqual({ code: 0, warnings: '' })
    expect(out).toContain('Initial score: ')
  }
  // Nobody answers there, which it would not notice if it did not ask.
  const { err } = hbal(named({ [NODES[2] ?? '']: nodeAddress(cluster, 8) }), `--luxi=${cluster.socket}`)
  expect(err).toContain(`Failed to contact node's ${NODES[2]} MonD for DC cpu-avg-load`)
})

interface Report {
  readonly data: object
}
