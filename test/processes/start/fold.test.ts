// gantryd fold leaves plain files, and nothing while another process may write them.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { createConfig } from '../../../src/config/store-files'
import { openStore } from '../../../src/config/store'
import { systemClock } from '../../../src/lib/clock'
import { systemDisk } from '../../../src/lib/disk'
import { lockFile } from '../../../src/lib/file/lock'
import { silentLog } from '../../../src/lib/log'
import { pathsOf } from '../../../src/lib/paths'
import { serveMetrics } from '../../../src/lib/self-metrics'
import { systemRandom } from '../../../src/lib/random'
import { ConfigReplica } from '../../../src/replication/config-replica'
import { FollowFeed, serveFollow } from '../../../src/rpc/wconfd/follow-server'
import { fold } from '../../../src/start/fold'
import { smallConfig } from '../../unit/config/builders'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fold-'))
let number = 0
let paths = pathsOf(folder, 'x')

const options = () => ({ paths, disk: systemDisk, clock: systemClock, random: systemRandom, log: silentLog })

/** As a killed process leaves it: the change is in the journal only. */
async function leaveJournal(): Promise<void> {
  const store = await openStore(options())
  await store.change([['addTags', 'cluster', '', ['kept']]])
  await store.close(false)
}

beforeEach(async () => {
  paths = pathsOf(`${folder}/${++number}`, `${number}`)
  for (const directory of [paths.dataDir, paths.socketDir, paths.runDir]) fs.mkdirSync(directory, { recursive: true })
  await createConfig(options(), smallConfig())
})
afterAll(() => fs.rmSync(folder, { recursive: true }))

const tags = () => JSON.parse(fs.readFileSync(paths.configFile, 'utf8')).cluster.tags

test('the files have everything, and there is no journal', async () => {
  await leaveJournal()
  expect(await fold(paths, silentLog)).toContain('holds the whole configuration')
  expect([tags(), fs.existsSync(paths.journalFile)]).toEqual([['kept'], false])
})

test('on a candidate noded keeps the files, and loses nothing', async () => {
  const replica = new ConfigReplica({ ...options(), isMaster: () => false })
  await replica.start()
  await expect(fold(paths, silentLog)).rejects.toThrow('on a master candidate noded; stop it first')
  expect(fs.existsSync(paths.journalFile)).toBe(true)
  await replica.close()
})

test.each(['wconfd', 'query', 'follow'])(
  'a process that serves %s is asked before anything is touched',
  async (name) => {
    await leaveJournal()
    const server = await serveFollow(
      { path: paths.socket(name), log: silentLog },
      new FollowFeed(() => ({ config: smallConfig(), gantry: { version: 1, serial_no: 0, sections: {} } }), false),
    )
    await expect(fold(paths, silentLog)).rejects.toThrow('stop it first')
    expect([tags(), fs.existsSync(paths.journalFile)]).toEqual([[], true])
    await server.close()
  },
)

test.each(['wconfd', 'luxid', 'noded'])(
  'a %s that has just begun, and serves nothing yet, is left alone',
  async (role) => {
    await leaveJournal()
    const begun = await lockFile(paths.roleLock(role), 'exclusive')
    await expect(fold(paths, silentLog)).rejects.toThrow(`${role} is running`)
    expect([tags(), fs.existsSync(paths.journalFile)]).toEqual([[], true])
    begun?.release()
    await expect(fold(paths, silentLog)).resolves.toContain('all jobs')
  },
)

test('a noded without a usable copy still keeps the queue of a candidate, but not of the master', async () => {
  const figures = await serveMetrics(paths.figuresSocket('noded'), () => ({}))
  await expect(fold(paths, silentLog)).rejects.toThrow('noded is running')
  fs.writeFileSync(paths.ssconf('master_node'), `${paths.hostname}\n`)
  await expect(fold(paths, silentLog)).resolves.toContain('all jobs')
  figures.close()
})
