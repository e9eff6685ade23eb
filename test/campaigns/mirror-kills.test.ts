// Kills processes of a cluster at moments that a seed chooses, while it makes, changes and moves a mirrored disk in user space: no write that
// was confirmed is lost, and whatever is left over is named by verify with the way out. `KILLS=100 npx jest FILE` kills more often.
import { environmentValue } from '../../src/lib/environment'
import { seededRandom } from '../../src/lib/random'
import { SEED, tries } from '../support/effort'
import { startCluster } from '../support/embedded-cluster'
import { MirrorKills, randomMoments } from '../support/mirror-kills'

const KILLS = Number(environmentValue('KILLS') ?? tries(4, 100))
/** For one kill, with all that follows. */
const PATIENCE_MS = 300_000

test(
  `${KILLS} kills of seed ${SEED} during operations on a mirrored disk lose no write, and what they leave can be mended`,
  async () => {
    const cluster = await startCluster(['--hypervisor', 'fake'])
    const failed: string[] = []
    try {
      // It would mend what is to be named.
      await cluster.gnt('cluster', 'watcher', 'pause', '10h')
      const kills = new MirrorKills(cluster, seededRandom(SEED))
      for (const [index, moment] of randomMoments(KILLS, SEED).entries()) {
        const text = `${index}: ${moment.operation}; ${moment.victim}, at ${moment.at}`
        const error = await kills.carryOut(moment).catch(String)
        if (error !== undefined) failed.push(`${text}: ${error}`)
        process.stdout.write(`faults: ${text} ${error ?? 'is well'}\n`)
      }
      expect(failed).toEqual([])
      await kills.end()
    } finally {
      await cluster.remove()
    }
  },
  KILLS * PATIENCE_MS,
)
