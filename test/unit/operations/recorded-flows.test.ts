// A real cluster carried out these opcodes one after the other, from the state of test/golden/state; ours must log and answer the same.
import { readFileSync } from 'node:fs'
import * as path from 'node:path'
import listed from '../../golden/differences.json'
import { loadConfig } from '../../../src/config/upgrade'
import { seededRandom } from '../../../src/lib/random'
import type { WireOpCode } from '../../../src/rpc/luxi/calls'
import { GanetiError } from '../../../src/model/errors'
import { smallCluster } from '../../support/fake-cluster'

interface Recorded {
  readonly flow: string
  readonly op: WireOpCode
  readonly log: readonly string[]
  readonly status: 'success' | 'error'
  readonly result: unknown
}

const golden = path.join(__dirname, '../../golden')
const recorded = JSON.parse(
  readFileSync(path.join(golden, 'operations/groups-and-networks.json'), 'utf8'),
) as Recorded[]
const flows = recorded.map(asOurs)
const state = readFileSync(path.join(golden, 'state/config.data'), 'utf8')

/** With the words that differ on purpose. */
function asOurs(recording: Recorded): Recorded {
  const texts = listed.find((entry) => entry.recording === `flows/flow-${recording.flow}`)?.ours?.texts ?? []
  let text = JSON.stringify(recording)
  for (const [theirs = '', mine = ''] of texts) text = text.replace(theirs, () => mine)
  return JSON.parse(text) as Recorded
}

/** Uuids of objects that the flows make are chance. */
const withoutNewUuids = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value).replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (uuid) =>
      state.includes(uuid) ? uuid : '<new>',
    ),
  )

const cluster = smallCluster()
cluster.config = loadConfig(state, seededRandom(1)).config

test.each(flows)('$flow', async ({ op, log, status, result }) => {
  cluster.log.length = 0
  const { OP_ID, ...params } = op
  const outcome = await cluster.run(OP_ID, params).then(
    (answer) => ({ status: 'success', result: answer }),
    (error: unknown) => ({ status: 'error', result: error instanceof GanetiError ? error.toWire() : error }),
  )
  expect(withoutNewUuids({ ...outcome, log: cluster.log })).toEqual(withoutNewUuids({ status, result, log }))
})

test('in the end all is as it was, but for what counts changes', () => {
  const before = loadConfig(state, seededRandom(1)).config
  const plain = (config: typeof before) =>
    JSON.parse(
      JSON.stringify({ nodes: config.nodes, groups: config.nodegroups, networks: config.networks }, (key, value) =>
        key === 'serial_no' || key === 'mtime' ? undefined : (value as unknown),
      ),
    ) as unknown
  expect(plain(cluster.config)).toEqual(plain(before))
})
