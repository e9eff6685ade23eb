// A run of the watcher for a node group with many instances, apart from the master's answers: what the watcher itself costs.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { performance } from 'node:perf_hooks'
import { systemClock } from '../../src/lib/clock'
import { systemDisk } from '../../src/lib/disk'
import { silentLog } from '../../src/lib/log'
import { pathsOf } from '../../src/lib/paths'
import { watchGroup } from '../../src/maintenance/watcher/group-run'
import { memoryText } from '../../src/maintenance/watcher/memory'
import { PATH } from '../../src/model/constants/paths'
import { FakeMaster } from '../support/fake-master'
import type { Report } from './table'

const [NODES, INSTANCES, RUNS] = [1000, 10_000, 5]
const GROUP = 'a4f1b6ad-0000-4000-8000-000000000001'

export async function measureWatcher(report: Report): Promise<void> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gbench-watcher-'))
  const paths = pathsOf(folder, 'node0')
  fs.mkdirSync(paths.dataDir, { recursive: true })
  fs.mkdirSync(paths.runDir, { recursive: true })
  // It knows the boots of all nodes already.
  const boots = Object.fromEntries(range(NODES).map((n) => [`node${n}`, { bootid: `boot-${n}` }]))
  const file = paths.local(PATH.WATCHER_GROUP_STATE_FILE.replace('%s', GROUP))
  await systemDisk.write(file, memoryText({ instance: {}, node: boots }))
  const master = Object.assign(new FakeMaster(), { query: (what: string) => Promise.resolve(answerTo(what)) })
  const lockFile = () => Promise.resolve({ release: () => undefined })
  const surroundings = {
    master: master as never,
    disk: systemDisk,
    paths,
    clock: systemClock,
    log: silentLog,
    lockFile,
    by: 'watcher' as const,
  }
  const group = { uuid: GROUP, name: 'default', known: [GROUP] }
  try {
    for (let run = 0; run < RUNS; run++) {
      const begun_ms = performance.now()
      const { error } = await watchGroup(group, { verifyDisks: false, strict: false, why: 'measured' }, surroundings)
      if (error !== null) throw new Error(error)
      const took = performance.now() - begun_ms
      if (run === RUNS - 1) report(`watcher, a run in which all is well: ${INSTANCES} instances`, took, 'ms')
    }
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}

function answerTo(what: string) {
  const rows =
    what === 'instance'
      ? range(INSTANCES).map((n) => [
          `vm${n}`,
          'running',
          'up',
          true,
          [`node${(n + 1) % NODES}`],
          'drbd',
          GROUP,
          [GROUP],
        ])
      : what === 'node'
        ? range(NODES).map((n) => [`node${n}`, `boot-${n}`, false])
        : []
  return { fields: [], data: rows.map((row) => row.map((value) => [0, value])) }
}

const range = (count: number): number[] => Array.from({ length: count }, (_, n) => n)
