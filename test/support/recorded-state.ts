// A copy of the recorded master's folder with its queue, for the start of an embedded cluster.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { startCluster, type EmbeddedCluster } from './embedded-cluster'

const STATE = path.join(__dirname, '../golden/state')

/** `serial`: the number of the last job. */
export async function startRecordedCluster(serial: number): Promise<EmbeddedCluster> {
  const state = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-state-'))
  try {
    fs.cpSync(STATE, state, { recursive: true })
    execFileSync('tar', ['-xzf', path.join(STATE, 'queue.tgz'), '-C', state])
    // A recorded folder that may not be written could be removed by root alone.
    execFileSync('chmod', ['-R', 'u+w', state])
    fs.rmSync(path.join(state, 'queue.tgz'))
    fs.writeFileSync(path.join(state, 'queue/serial'), `${serial}\n`)
    return await startCluster(['--state', state])
  } finally {
    fs.rmSync(state, { recursive: true })
  }
}
