// The process that has a node's mirrored disks, as it is asked over its socket.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { systemClock } from '../../../../src/lib/clock'
import { systemFiles } from '../../../../src/lib/files'
import { silentLog as log } from '../../../../src/lib/log'
import { systemRandom as random } from '../../../../src/lib/random'
import { runCommand as run } from '../../../../src/lib/programs/run-command'
import { serveMirrors } from '../../../../src/node/mirror/server'
import { JsonClient } from '../../../../src/rpc/json-protocol'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gm-'))
afterAll(() => fs.rmSync(folder, { recursive: true }))

test('it ends when it is told to, also while a disk is busy for ever', async () => {
  const socket = path.join(folder, 'mirrors.sock')
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => (open = resolve))
  const files = {
    ...systemFiles,
    open() {
      open()
      return new Promise<never>(() => undefined)
    },
  }
  // Whoever waits has waited long enough.
  const clock = { ...systemClock, after: (_ms: number, action: () => void) => systemClock.after(0, action) }
  let end: () => void = () => undefined
  const ended = new Promise<void>((resolve) => (end = resolve))
  const mirrors = await serveMirrors({ files, run, clock, random, log, socket, folder, end: () => end() })
  // Each hears its answers in their order.
  const asking = () => new JsonClient({ path: socket, peer: 'the mirrors', clock: systemClock })
  const [client, other] = [asking(), asking()]
  await client.call('begin', { minor: 0 }, null)
  const busy = client
    .call('attach', { minor: 0, data: '/none', meta: '/none', size_bytes: 1 }, null)
    .catch(() => undefined)
  await opened
  await expect(other.call('quit', {}, null)).resolves.toBeNull()
  await ended
  for (const one of [client, other]) one.close()
  await Promise.all([busy, mirrors.close()])
})
