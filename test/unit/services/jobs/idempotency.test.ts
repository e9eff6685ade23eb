// Keys that make a submission happen once keep their body secret.
import { createHash } from 'node:crypto'
import { pathsOf } from '../../../../src/lib/paths'
import { IDEMPOTENCY_KEYS_PER_USER_MAX } from '../../../../src/model/limits/rapi-v3'
import { IdempotencyKeys } from '../../../../src/services/jobs/idempotency'
import type { MasterContext } from '../../../../src/services/master-context'
import { SteppedClock } from '../../../support/stepped-clock'

const body = createHash('sha256').update('a short secret').digest('hex')

/** The keys of a cluster without jobs. */
function keysOfCluster(secret: string | undefined): IdempotencyKeys {
  async function* newestFirst() {}
  const context = {
    queue: { all: () => [], archived: { newestFirst } },
    disk: { read: async () => (secret === undefined ? undefined : Buffer.from(secret)) },
    paths: pathsOf('/nowhere', 'node1'),
    clock: new SteppedClock(),
  }
  // Only what the keys use.
  return new IdempotencyKeys(context as unknown as MasterContext)
}

async function noted(secret: string): Promise<string> {
  let text = ''
  await keysOfCluster(secret).once('anna', 'key', body, async (note) => {
    text = note
    return 1
  })
  return text
}

test('notes in a job do not let a body be guessed without the secret of the cluster', async () => {
  const [one, again, other] = [await noted('one'), await noted('one'), await noted('other')]
  expect(one).toBe(again)
  expect(one).not.toContain(body)
  expect(one.split(' ')[1]).not.toBe(other.split(' ')[1])
})

test('without that secret there is no answer but the file that is missing', async () => {
  const keys = keysOfCluster(undefined)
  await expect(keys.once('anna', 'key', body, async () => 1)).rejects.toThrow(/cluster-domain-secret, which is missing/)
})

test('a user who uses many keys makes only the own ones be forgotten', async () => {
  const keys = keysOfCluster('secret')
  let job = 0
  const use = (user: string, key: string) => keys.once(user, key, body, async () => ++job)
  await use('bert', 'first')
  for (let at = 0; at <= IDEMPOTENCY_KEYS_PER_USER_MAX; at++) await use('anna', `key ${at}`)
  expect(await use('bert', 'first')).toEqual({ job: 1, replayed: true })
  expect(await use('anna', 'key 1')).toMatchObject({ replayed: true })
  expect(await use('anna', 'key 0')).toMatchObject({ replayed: false })
})
