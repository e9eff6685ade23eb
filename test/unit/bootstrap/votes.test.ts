// Which answers of nodes make a master.
import type { Clock } from '../../../src/lib/clock'
import { systemClock } from '../../../src/lib/clock'
import { silentLog } from '../../../src/lib/log'
import { pathsOf } from '../../../src/lib/paths'
import { createCertificate } from '../../../src/lib/tls'
import { checkVotes, NotMaster, type VoteOptions } from '../../../src/bootstrap/votes'
import { MemoryDisk } from '../config/memory-disk'
import { FakeNodes } from '../daemons/wconfd/support'

const paths = pathsOf('/r/node1', 'node1')
const fastClock: Clock = { ...systemClock, sleep: () => systemClock.sleep(0) }

async function vote(answers: (string | null)[], extra: Partial<VoteOptions> = {}): Promise<unknown> {
  const disk = new MemoryDisk()
  const list = answers.map((_, i) => `node${i + 1} 192.0.2.${i + 1}\n`).join('')
  if (list !== '') await disk.write(paths.ssconf('node_primary_ips'), list)
  const nodes = new FakeNodes()
  nodes.answer = (name) => {
    const answer = answers[Number(name.slice(4)) - 1]
    return typeof answer === 'string' ? Promise.resolve(answer) : Promise.reject(new Error('down'))
  }
  return checkVotes({ paths, disk, nodes, clock: fastClock, log: silentLog, ...extra })
}

test.each([[['node1']], [['node1', 'node1', 'node2']], [['node1', 'node1', null]]])(
  'the majority %j starts the daemon',
  async (answers) => {
    await expect(vote(answers)).resolves.toBeUndefined()
  },
)

test.each([[['node1', 'node2']], [['node1', 'node2', 'node2']], [['node2', 'node2', null]]])(
  'votes %j that cannot be won end with exit code 11',
  async (answers) => {
    await expect(vote(answers)).rejects.toMatchObject({
      exitCode: 11,
      message: expect.stringContaining('is not the master'),
    })
  },
)

test('too few answers end with a text that says what to do', async () => {
  const failed = vote(['node1', null, null])
  await expect(failed).rejects.toThrow(NotMaster)
  await expect(failed).rejects.toThrow('--no-voting --yes-do-it')
})

test('a clock outside of the certificate is named at once', async () => {
  const disk = new MemoryDisk()
  await disk.write(paths.ssconf('node_primary_ips'), 'node1 192.0.2.1\n')
  await disk.write(paths.serverCert, await createCertificate())
  const late: Clock = { ...fastClock, now_ms: () => Date.UTC(2099, 0, 1) }
  const nodes = new FakeNodes()
  nodes.answer = () => Promise.reject(new Error('certificate has expired'))
  await expect(checkVotes({ paths, disk, nodes, clock: late, log: silentLog })).rejects.toMatchObject({
    exitCode: 1,
    message: expect.stringMatching(/server\.pem is valid from .* clock of this machine says 2099-01-01/),
  })
})

test('a node in no cluster is no master', async () => {
  await expect(vote([])).rejects.toThrow('this node is in no cluster')
})

test('only both flags together skip the vote', async () => {
  await expect(vote(['node2'], { noVoting: true, yesDoIt: true })).resolves.toBeUndefined()
  await expect(vote(['node1'], { noVoting: true })).rejects.toMatchObject({ exitCode: 1 })
})
