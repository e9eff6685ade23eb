// Two nodes over real sockets and TLS: what the master acknowledged is on the candidate, which can take its place.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { systemFiles } from '../../../../src/lib/files'
import { ownedDisk } from '../../../../src/model/owners'
import { thisMachine } from '../../../../src/lib/machine'
import { createConfig } from '../../../../src/config/store-files'
import { type Noded, startNoded } from '../../../../src/daemons/noded/noded'
import { startWconfd } from '../../../../src/daemons/wconfd/server'
import { systemClock } from '../../../../src/lib/clock'
import { systemDisk } from '../../../../src/lib/disk'
import { silentLog } from '../../../../src/lib/log'
import { pathsOf, type Paths } from '../../../../src/lib/paths'
import { systemRandom } from '../../../../src/lib/random'
import { certificateDigest, createCertificate, createClientCertificate } from '../../../../src/lib/tls'
import type { ConfigData } from '../../../../src/model/config'
import { openNodeClient, type NodeClient } from '../../../../src/rpc/node/client'
import { openWconfd } from '../../../../src/rpc/wconfd/client'
import { followConfig } from '../../../../src/rpc/wconfd/follow'
import { buildNode, master, smallConfig } from '../../config/builders'
import { eventually } from './support'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gwt-'))
const [first, second] = ['n1', 'n2'].map((name) => pathsOf(`${folder}/${name}`, name)) as [Paths, Paths]
let noded: Noded
let nodes: NodeClient

const wconfdOn = (paths: Paths) =>
  startWconfd({ paths, clock: systemClock, random: systemRandom, disk: ownedDisk, log: silentLog, nodes })

function twoNodes(digest: string): ConfigData {
  const config = smallConfig()
  const other = buildNode(config, 2, { name: 'n2', primary_ip: '127.0.0.1', master_candidate: true })
  // Nothing listens on the master's address: it is the candidate that matters here.
  const own = { ...master(config), name: 'n1', primary_ip: '127.0.0.3' }
  const group = Object.values(config.nodegroups)[0]
  if (!group) throw new Error('no group')
  return {
    ...config,
    nodes: { [own.uuid]: own, [other.uuid]: other },
    cluster: { ...config.cluster, candidate_certs: { [own.uuid]: digest } },
  }
}

beforeAll(async () => {
  const server = await createCertificate()
  const client = await createClientCertificate(server, 'n1')
  for (const paths of [first, second]) {
    fs.mkdirSync(paths.dataDir, { recursive: true })
    fs.writeFileSync(paths.serverCert, server)
    fs.writeFileSync(paths.clientCert, client)
    fs.writeFileSync(paths.ssconf('master_node'), 'n1\n')
    fs.writeFileSync(paths.ssconf('master_candidates_certs'), `x=${certificateDigest(client)}\n`)
  }
  const [nothing, yes] = [async () => {}, async () => true]
  const daemons = {
    startMaster: nothing,
    stopMaster: nothing,
    yieldMaster: yes,
    ensure: yes,
    settle: nothing,
    leave: () => {},
  }
  const here = { clock: systemClock, random: systemRandom, disk: ownedDisk, machine: thisMachine }
  noded = await startNoded({ ...here, paths: second, hostname: 'n2', address: '127.0.0.1', port: 0, daemons })
  nodes = openNodeClient({ files: systemFiles, clock: systemClock, paths: first, port: noded.port })
  await createConfig({ disk: systemDisk, paths: first }, twoNodes(certificateDigest(client)))
})

afterAll(async () => {
  nodes.close()
  await noded.close()
  fs.rmSync(folder, { recursive: true })
})

test('a candidate follows the master and takes its place without losing a change', async () => {
  const wconfd = await wconfdOn(first)
  const calls = openWconfd({ clock: systemClock, random: systemRandom, path: first.socket('wconfd') })
  await expect(calls.gantryReplicas()).resolves.toMatchObject([{ name: 'n2', state: 'in sync' }])
  const follower = await followConfig(second.socket('follow'), { clock: systemClock })
  for (const tag of ['one', 'two']) await calls.gantryChange([0, '', 1], null, [['addTags', 'cluster', '', [tag]]])
  // Acknowledged means that it is there, so this needs no patience.
  const journal = fs.readFileSync(second.journalFile, 'utf8') + fs.readFileSync(second.configFile, 'utf8')
  expect(journal).toContain('"tags":["one","two"]')
  await eventually(() => expect(follower.current().cluster.tags).toEqual(['one', 'two']))
  await eventually(() => expect(fs.readFileSync(second.ssconf('cluster_tags'), 'utf8')).toBe('one\ntwo\n'))
  follower.close()
  calls.close()
  await wconfd.close()

  const successor = await wconfdOn(second)
  const there = openWconfd({ clock: systemClock, random: systemRandom, path: second.socket('wconfd') })
  expect((await there.readConfig()).cluster.tags).toEqual(['one', 'two'])
  there.close()
  await successor.close()
})
