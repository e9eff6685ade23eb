// Verify of the cluster: its jobs, its configuration and its certificates.
import { change } from '../../../../../src/config/changes'
import { createCertificate } from '../../../../../src/lib/tls'
import { groupUuid } from '../../../../../src/model/ids'
import { goldenConfig } from '../../../../support/golden-query'
import { RecordedCluster } from './recorded-nodes'

const FLAGS = { debug_simulate_errors: false, error_codes: true, ignore_errors: ['ENODEN1'], verbose: true }

test('the check of the cluster is one job for the configuration and one after it for each group', async () => {
  const cluster = new RecordedCluster()
  const answer = await cluster.run({ OP_ID: 'OP_CLUSTER_VERIFY', ...FLAGS, skip_checks: ['nplusone_mem'] })
  expect(answer).toEqual({
    jobs: [
      [true, 100],
      [true, 101],
      [true, 102],
    ],
  })
  const [config, ...groups] = cluster.submitted.map(([op]) => op)
  expect(config).toMatchObject({ OP_ID: 'OP_CLUSTER_VERIFY_CONFIG', ...FLAGS })
  expect(config).not.toHaveProperty('skip_checks')
  expect(groups).toMatchObject(
    Object.keys(cluster.config.nodegroups).map((group_name, index) => ({
      ...{ OP_ID: 'OP_CLUSTER_VERIFY_GROUP', group_name, ...FLAGS },
      ...{ skip_checks: ['nplusone_mem'], depends: [[-(index + 1), []]] },
    })),
  )
})

test('the check of one group does not look at the configuration', async () => {
  const cluster = new RecordedCluster()
  await cluster.run({ OP_ID: 'OP_CLUSTER_VERIFY', group_name: 'rack2' })
  expect(cluster.submitted).toMatchObject([[{ OP_ID: 'OP_CLUSTER_VERIFY_GROUP', group_name: 'rack2', depends: null }]])
  await expect(cluster.run({ OP_ID: 'OP_CLUSTER_VERIFY', group_name: 'nosuch' })).rejects.toThrow(/nosuch/)
})

test('disks are checked by one job for each group', async () => {
  const cluster = new RecordedCluster()
  await cluster.run({ OP_ID: 'OP_CLUSTER_VERIFY_DISKS' })
  expect(cluster.submitted.map(([op]) => op?.['group_name'])).toEqual(Object.keys(cluster.config.nodegroups))
})

test('where there are no instances no disks are checked', async () => {
  const cluster = new RecordedCluster({ ...goldenConfig(), instances: {}, disks: {} })
  expect(await cluster.run({ OP_ID: 'OP_CLUSTER_VERIFY_DISKS' })).toEqual({ jobs: [] })
})

async function verifyConfig(cluster: RecordedCluster): Promise<[unknown, string[]]> {
  const result = await cluster.run({ OP_ID: 'OP_CLUSTER_VERIFY_CONFIG' })
  return [result, cluster.log.filter((line) => line.startsWith('  - '))]
}

async function withCertificates(config = goldenConfig()): Promise<RecordedCluster> {
  const cluster = new RecordedCluster(config)
  const pem = await createCertificate()
  for (const name of ['server', 'rapi']) cluster.files.set(`/var/lib/ganeti/${name}.pem`, pem)
  return cluster
}

test('a good configuration is reported as it was recorded', async () => {
  const cluster = await withCertificates()
  expect(await verifyConfig(cluster)).toEqual([true, []])
  expect(cluster.log).toEqual([
    '* Verifying cluster config',
    '* Verifying cluster certificate files',
    '* Verifying hypervisor parameters',
    '* Verifying all nodes belong to an existing group',
  ])
})

test('certificates that are missing, damaged or about to end are named', async () => {
  const cluster = await withCertificates()
  cluster.files.delete('/var/lib/ganeti/server.pem')
  cluster.files.set('/var/lib/ganeti/rapi.pem', 'no certificate')
  const [result, problems] = await verifyConfig(cluster)
  expect(result).toBe(false)
  expect(problems).toEqual([
    "  - ERROR: cluster : /var/lib/ganeti/server.pem is missing; renew it with 'gnt-cluster renew-crypto'",
    expect.stringMatching(/^ {2}- ERROR: cluster : Failed to load X509 certificate \/var\/lib\/ganeti\/rapi\.pem: /),
  ])
})

test('a certificate that ends soon is a warning', async () => {
  const cluster = await withCertificates()
  const later_ms = cluster.clock.now_ms() + (5 * 365 - 20) * 86_400_000
  cluster.clock = { ...cluster.clock, now_ms: () => later_ms }
  const [, problems] = await verifyConfig(cluster)
  expect(problems[0]).toMatch(/Certificate (expires in about \d+ days|expired \d+ days ago); renew it/)
})

test('an upgrade that was cut off is told with the command that goes on with it', async () => {
  const cluster = await withCertificates()
  cluster.files.set('/var/lib/ganeti/intent-to-upgrade', '0.1.0,0.1.1,77\n')
  expect(await verifyConfig(cluster)).toEqual([
    true,
    [
      '  - WARNING: cluster : the upgrade from 0.1.0 to 0.1.1 has not ended: where it was cut off, ' +
        "'gnt-cluster upgrade --resume' on the master goes on with it",
    ],
  ])
})

test('wrong parameters and objects that refer to nothing are named', async () => {
  const config = goldenConfig()
  const group = groupUuid('00000000-0000-4000-8000-000000000099')
  const node4 = Object.values(config.nodes).find((node) => node.name.startsWith('node4'))
  if (node4 === undefined) throw new Error('no node4')
  const cluster = await withCertificates({ ...config, nodes: { ...config.nodes, [node4.uuid]: { ...node4, group } } })
  cluster.given(change('patchInstance', cluster.instance('inst5').uuid, { hvparams: { boot_order: 'nowhere' } }))
  const [result, problems] = await verifyConfig(cluster)
  expect(result).toBe(false)
  expect(problems).toEqual(
    expect.arrayContaining([
      expect.stringMatching(
        /^ {2}- ERROR: cluster : hypervisor kvm parameters syntax check \(source instance inst5\.gnt\.example\): Parameter 'boot_order' fails/,
      ),
      '  - ERROR: node : the following nodes (and their instances) belong to a non existing group: node4.gnt.example ()',
    ]),
  )
})
