// A working cluster leaves only files on its nodes whose growth has a bound.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'
import { GROWING_FILES } from '../support/growing'

let cluster: EmbeddedCluster

beforeAll(async () => {
  cluster = await startCluster(['--nodes', '2', '--hypervisor', 'fake'])
})
afterAll(() => cluster.remove())

function filesBelow(folder: string): string[] {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const name = path.join(folder, entry.name)
    return entry.isDirectory() ? filesBelow(name) : [name]
  })
}

test('every file below the root of a node is of a family that is bounded', async () => {
  const run = async (line: string) => {
    const { code, stderr } = await cluster.gnt(...line.split(' '))
    expect({ line, code, stderr: code === 0 ? '' : stderr }).toEqual({ line, code: 0, stderr: '' })
  }
  await run('instance add -t sharedfile --disk 0:size=8m -o gantry-tiny -B memory=64m vm1')
  await run('instance reboot vm1')
  await run('instance failover -f vm1')
  await run('instance shutdown vm1')
  await run('backup export -n node2 vm1')
  await run('instance modify -B memory=128m vm1')
  await run('instance remove -f vm1')
  await run('cluster verify')
  await run('job archive 1 2')
  await run('cluster watcher pause 1h')
  await run('node modify -C no -f node2')
  await cluster.stop()
  await cluster.restart()
  const files = filesBelow(cluster.root).map((file) => path.relative(cluster.root, file))
  const ofNodes = files.filter((file) => /^node\d/.test(file)).map((file) => file.replace(/^[^/]+\//, ''))
  expect(ofNodes.length).toBeGreaterThan(100)
  const unbounded = ofNodes.filter((file) => !GROWING_FILES.some(([family]) => family.test(file)))
  expect(unbounded).toEqual([])
  const ofCluster = ['admin-password', 'cluster.json', 'embedded.json', 'lock.sock']
  expect(files.filter((file) => !/^node\d/.test(file)).sort()).toEqual(ofCluster)
})
