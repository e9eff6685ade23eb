// What a node does when it becomes a member, a candidate, the master, or none of these any more.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { certificateDigest, createCertificate } from '../../../src/lib/tls'
import { encodeRecord } from '../../../src/config/journal'
import { configReplicaHandlers } from '../../../src/node/handlers/config-replica'
import { fileHandlers } from '../../../src/node/handlers/files'
import { membershipHandlers } from '../../../src/node/handlers/membership'
import { misplacedFiles } from '../../../src/node/owners'
import { runRepair, runRestricted } from '../../../src/node/restricted'
import { NAMED_PROGRAM_INPUT_MAX, NAMED_PROGRAM_OUTPUT_MAX, NAMED_PROGRAM_TURN_S } from '../../../src/model/limits/node'
import { systemClock } from '../../../src/lib/clock'
import type { LockFile } from '../../../src/lib/file/lock'
import { claimAll } from '../../../src/model/owners'
import { isDaemonOfNode } from '../../../src/roles/role'
import { ROLES } from '../../../src/roles/table'
import { type TestNode, testNode } from '../../support/node-context'

let node: TestNode
beforeEach(() => void (node = testNode()))
afterEach(() => node.remove())

test('a node makes itself a client certificate and tells its digest', async () => {
  fs.writeFileSync(node.paths.serverCert, await createCertificate())
  const [created] = await membershipHandlers.node_crypto_tokens(node.context, [['ssl', 'create', { serial_no: 5 }]])
  expect(created).toEqual(['ssl', certificateDigest(fs.readFileSync(node.paths.clientCert))])
  await expect(membershipHandlers.node_crypto_tokens(node.context, [['ssl', 'get', null]])).resolves.toEqual([created])
  const beside = { cert_file: '/var/lib/ganeti/client.pem.new' }
  const [[, next] = []] = await membershipHandlers.node_crypto_tokens(node.context, [['ssl', 'create', beside]])
  await expect(membershipHandlers.node_crypto_tokens(node.context, [['ssl', 'get', null]])).resolves.toEqual([created])
  const installed = await membershipHandlers.node_crypto_tokens(node.context, [['ssl', 'install', beside]])
  expect(installed).toEqual([['ssl', next]])
  expect(fs.readdirSync(node.paths.dataDir).sort()).toEqual(['client.pem', 'server.pem'])
  const elsewhere = { cert_file: '/etc/ssl/x.pem' }
  await expect(membershipHandlers.node_crypto_tokens(node.context, [['ssl', 'create', elsewhere]])).rejects.toThrow()
})

test('a demoted candidate keeps a backup of the configuration and nothing else of it', async () => {
  node.put('/var/lib/ganeti/config.data', '{}')
  node.put('/var/lib/ganeti/config.journal', 'x')
  // Jobs have private OS parameters.
  for (const file of ['job-7', 'journal', 'archive/0/job-3']) node.put(`/var/lib/ganeti/queue/${file}`, 'x')
  // As when its daemon started: the folder has its owner, which depends on the machine's accounts.
  claimAll((file) => node.paths.local(file))
  await membershipHandlers.node_demote_from_mc(node.context)
  expect(fs.readdirSync(node.paths.queueDir)).toEqual([])
  fs.rmdirSync(node.paths.queueDir)
  const [backup = '', ...others] = fs.readdirSync(node.paths.dataDir)
  expect([backup, others]).toEqual([expect.stringMatching(/^config\.data\.backup-\d+$/), []])
  expect(fs.readFileSync(path.join(node.paths.dataDir, backup), 'utf8')).toBe('{}')
  // Verify names what is not as the table of owners says.
  expect(await misplacedFiles(node.context)).toEqual([])
})

test('the master refuses to be demoted', async () => {
  node.put('/var/lib/ganeti/ssconf_master_node', `${node.context.hostname}\n`)
  await expect(membershipHandlers.node_demote_from_mc(node.context)).rejects.toThrow('is the master')
})

test('a master that hears of another one asks for votes, and keeps its files when it has them', async () => {
  const { context } = node
  const elsewhere = { master_node: ['node2.example.com'] }
  await fileHandlers.write_ssconf_files(context, elsewhere)
  expect(node.told).toEqual([])
  await fileHandlers.write_ssconf_files(context, { master_node: [context.hostname] })
  await fileHandlers.write_ssconf_files(context, { cluster_tags: [], master_node: [] })
  node.put('/var/lib/ganeti/ssconf_master_node', `${context.hostname}\n`)
  const stays = { ...context, daemons: { ...context.daemons, yieldMaster: () => Promise.resolve(false) } }
  await expect(fileHandlers.write_ssconf_files(stays, elsewhere)).rejects.toThrow('the majority of the nodes says so')
  expect(context.ssconf.value('master_node')).toBe(context.hostname)
  await fileHandlers.write_ssconf_files(context, elsewhere)
  expect([node.told, context.ssconf.value('master_node')]).toEqual([['yield'], 'node2.example.com'])
})

test('new lists of candidates are told to the parent of the daemons, and nobody waits for these', async () => {
  const { context } = node
  await fileHandlers.write_ssconf_files(context, { cluster_tags: [] })
  expect(node.told).toEqual([])
  await fileHandlers.write_ssconf_files(context, { master_candidates: [context.hostname] })
  expect(node.told).toEqual(['settle'])
  const starting = { ...context, daemons: { ...context.daemons, settle: () => new Promise<void>(() => undefined) } }
  await fileHandlers.write_ssconf_files(starting, { master_candidates: ['node2.example.com'] })
  expect(context.ssconf.lines('master_candidates')).toEqual(['node2.example.com'])
})

test('a candidate tells which configuration and which jobs it has, journal included', async () => {
  const status = () => configReplicaHandlers.gantry_replica_status(node.context)
  expect(await status()).toEqual({ config_serial: null, config: null, jobs: [], serial: 0 })
  node.put('/var/lib/ganeti/config.data', '{"serial_no": 7}')
  node.put('/var/lib/ganeti/queue/job-2', '{"end_timestamp": null}')
  node.put('/var/lib/ganeti/queue/job-10', '{"end_timestamp": [1, 2]}')
  node.put('/var/lib/ganeti/queue/job-11', '{"end_')
  const { config_serial, jobs } = await status()
  expect([config_serial, [...jobs].sort(([a], [b]) => a - b)]).toEqual([
    7,
    [
      [2, false],
      [10, true],
      [11, false],
    ],
  ])
  const record = encodeRecord({ from: 7, to: 9, mtime: 1 })
  node.put('/var/lib/ganeti/config.journal', record.toString())
  expect(await status()).toMatchObject({
    config_serial: 9,
    config: { config_serial: 9, gantry_serial: 0, forks: [], master: '' },
  })
  const begins = { serial_no: 10, sections: { store: { forks: [['f', 9]] } } }
  const taken = encodeRecord({ from: 9, to: 10, mtime: 1, cluster: { master_node: 'new' }, gantry: begins })
  node.put('/var/lib/ganeti/config.journal', `${record.toString()}${taken.toString()}`)
  expect((await status()).config).toEqual({ config_serial: 10, gantry_serial: 10, forks: [['f', 9]], master: 'new' })
  await fileHandlers.gantry_jobqueue_append(node.context, [
    [`${node.paths.queueDir}/job-2`, '{"end_timestamp": [1, 2]}'],
  ])
  expect((await status()).jobs).toContainEqual([2, true])
})

test('daemons are started and stopped by name, and only known ones', async () => {
  await membershipHandlers.node_start_master_daemons(node.context, true)
  await membershipHandlers.node_stop_master(node.context)
  await expect(membershipHandlers.node_ensure_daemon(node.context, 'ganeti-mond', false)).resolves.toBe(true)
  for (const unknown of ['sshd', 'ganeti-node', 'ganeti-sim'])
    await expect(membershipHandlers.node_ensure_daemon(node.context, unknown, false)).rejects.toThrow('Unknown daemon')
  expect(node.told).toEqual(['start true', 'stop', 'ganeti-mond false'])
})

test('each daemon that a node may have can be stopped by its name, and one that only Ganeti has, too', async () => {
  const daemons = [...ROLES.filter(isDaemonOfNode).map(({ program }) => program), 'ganeti-masterd']
  for (const daemon of daemons) await membershipHandlers.node_ensure_daemon(node.context, daemon, false)
  expect(node.told).toEqual(daemons.map((daemon) => `${daemon} false`))
  expect(daemons).toContain('ganeti-maintd')
})

test('the hosts file gains and loses one line', async () => {
  node.put('/etc/hosts', '127.0.0.1 localhost\n10.0.0.1 node2.example.com node2\n')
  await membershipHandlers.etc_hosts_modify(node.context, 'add', 'node2.example.com', '10.0.0.2')
  const hosts = () => fs.readFileSync(node.paths.local('/etc/hosts'), 'utf8')
  expect(hosts()).toBe('127.0.0.1 localhost\n10.0.0.2\tnode2.example.com node2\n')
  await membershipHandlers.etc_hosts_modify(node.context, 'remove', 'node2.example.com', null)
  expect(hosts()).toBe('127.0.0.1 localhost\n')
  const add = (name: string, address: string) => membershipHandlers.etc_hosts_modify(node.context, 'add', name, address)
  await expect(add('node2\n10.0.0.9 localhost', '10.0.0.2')).rejects.toThrow('Invalid name of a host')
  await expect(add('node2', '10.0.0.2 localhost\n')).rejects.toThrow('Invalid address of a host')
  expect(hosts()).toBe('127.0.0.1 localhost\n')
})

test('loopback cluster addresses need no set-up, but the hooks run', async () => {
  node.put('/etc/ganeti/hooks/master-ip-turnup-pre.d/a', '#!/bin/sh\necho "no $GANETI_MASTER_IP"; exit 1\n', 0o755)
  const params = { uuid: 'u', ip: '127.0.1.254', netmask: 32, netdev: 'lo', ip_family: 2 }
  const up = membershipHandlers.node_activate_master_ip(node.context, params, false)
  await expect(up).rejects.toThrow('no 127.0.1.254')
  await expect(membershipHandlers.node_deactivate_master_ip(node.context, params, false)).resolves.toBeNull()
})

test('a repair command reads what is wrong, runs alone, and leaves nothing running; nothing outside its folder runs', async () => {
  const folder = '/etc/ganeti/node-repair-commands'
  const put = (name: string, body: string) => node.put(`${folder}/${name}`, `#!/bin/sh\n${body}\n`, 0o755)
  put('mend', 'cat')
  fs.chmodSync(node.paths.local(folder), 0o755)
  await expect(runRepair(node.context, 'mend', '{"status":"live-repair"}')).resolves.toBe('{"status":"live-repair"}')
  const mark = node.paths.local('/left')
  put('forks', `(sleep 3; touch ${mark}) & echo forked`)
  await expect(runRepair(node.context, 'forks', '')).resolves.toBe('forked\n')
  put(
    'strays',
    `setsid sh -c 'echo $$ > ${mark}.pid; setsid sleep 987 & exec sleep 987' & while ! test -s ${mark}.pid; do :; done`,
  )
  await expect(runRepair(node.context, 'strays', '')).resolves.toBe('')
  expect(fs.existsSync(`/proc/${fs.readFileSync(`${mark}.pid`, 'utf8').trim()}/exe`)).toBe(false)
  put('prints', 'head -c 3000000 /dev/zero | tr "\\0" x')
  expect((await runRepair(node.context, 'prints', '')).length).toBe(NAMED_PROGRAM_OUTPUT_MAX)
  // Two at a time would take turns.
  put('alone', `test ! -e ${mark}.lock || exit 1; touch ${mark}.lock; sleep 0.2; rm ${mark}.lock`)
  await expect(Promise.all([1, 2].map(() => runRepair(node.context, 'alone', '')))).resolves.toEqual(['', ''])
  node.put('/etc/ganeti/restricted-commands/other', '#!/bin/sh\necho other\n', 0o755)
  const clock = { ...systemClock, sleep: () => Promise.resolve() }
  const { run } = node.context
  const hurried = {
    ...node.context,
    clock,
    run: ((argv, options) => run(argv, { ...options, timeout_s: 0.3 })) satisfies typeof run,
  }
  put('hangs', 'sleep 60')
  put('hangs-away', `setsid sh -c 'echo $$ > ${mark}.away; exec sleep 987'`)
  put('yes', 'yes')
  await expect(runRepair({ ...node.context, clock }, 'yes', '')).rejects.toThrow('it printed more than')
  put('fails', 'echo no fan >&2; exit 3')
  for (const name of ['other', '../restricted-commands/other', 'nosuch'])
    await expect(runRepair(hurried, name, '')).rejects.toThrow(/^Executing command failed: see the log/)
  await expect(runRepair(hurried, 'hangs', '')).rejects.toThrow('it was ended because it took longer than')
  const patient = { ...hurried, clock: { ...systemClock, sleep: (ms: number) => systemClock.sleep(Math.min(ms, 50)) } }
  await expect(runRepair(patient, 'hangs-away', '')).rejects.toThrow('it was ended because it took longer than')
  const away = fs.existsSync(`${mark}.away`) ? fs.readFileSync(`${mark}.away`, 'utf8').trim() : 'ended before it began'
  expect(fs.existsSync(`/proc/${away}/exe`)).toBe(false)
  await expect(runRepair(hurried, 'fails', '')).rejects.toThrow(
    'it ended with exit code 3, and said last: no fan; see the log',
  )
  await expect(runRepair(hurried, 'mend', 'x'.repeat(NAMED_PROGRAM_INPUT_MAX + 1))).rejects.toThrow('see the log')
  expect(fs.existsSync(mark)).toBe(false)
})

test('a restricted command runs by its name; a failure is slow and says nothing', async () => {
  node.put('/etc/ganeti/restricted-commands/hello', '#!/bin/sh\necho hello\n', 0o755)
  fs.chmodSync(node.paths.local('/etc/ganeti/restricted-commands'), 0o755)
  await expect(runRestricted(node.context, 'hello')).resolves.toBe('hello\n')
  const waits: number[] = []
  const clock = { ...systemClock, sleep: (ms: number) => Promise.resolve(void waits.push(ms)) }
  for (const name of ['nosuch', '../hello', 'hello x'])
    await expect(runRestricted({ ...node.context, clock }, name)).rejects.toThrow('see the log')
  node.put('/etc/ganeti/restricted-commands/fails', '#!/bin/sh\necho secret; exit 3\n', 0o755)
  await expect(runRestricted({ ...node.context, clock }, 'fails')).rejects.toThrow(
    /^Executing command failed: see the log/,
  )
  fs.chmodSync(node.paths.local('/etc/ganeti/restricted-commands/hello'), 0o777)
  await expect(runRestricted({ ...node.context, clock }, 'hello')).rejects.toThrow('see the log')
  expect(waits).toEqual([10000, 10000, 10000, 10000, 10000])
})

test('a command runs only where nobody else may put another one in its place, and while nobody holds the lock', async () => {
  const { context, paths } = node
  node.put('/etc/ganeti/restricted-commands/hello', '#!/bin/sh\necho hello\n', 0o755)
  const folder = paths.local('/etc/ganeti/restricted-commands')
  const refused: unknown[] = []
  const log = { ...context.log, warn: (facts: unknown) => void refused.push(facts) } as typeof context.log
  const clock = { ...systemClock, sleep: () => Promise.resolve() }
  const requested = { ...context, clock, log }
  fs.symlinkSync('hello', `${folder}/link`)
  await expect(runRestricted(requested, 'link')).rejects.toThrow('see the log')
  fs.chmodSync(paths.local('/etc/ganeti'), 0o777)
  await expect(runRestricted(requested, 'hello')).rejects.toThrow('see the log')
  fs.chmodSync(paths.local('/etc/ganeti'), 0o755)
  fs.renameSync(folder, `${folder}.away`)
  fs.symlinkSync(`${folder}.away`, folder)
  await expect(runRestricted(requested, 'hello')).rejects.toThrow('see the log')
  expect(refused).toEqual([
    { command: 'link', problem: expect.stringContaining('link is a link') },
    { command: 'hello', problem: expect.stringContaining(`${paths.local('/etc/ganeti')} can be written by others`) },
    { command: 'hello', problem: expect.stringContaining('restricted-commands is a link') },
  ])
  fs.rmSync(folder)
  fs.renameSync(`${folder}.away`, folder)
  let released = 0
  const lock: LockFile = async (...desired) => {
    expect(desired).toEqual([
      paths.local('/var/lock/ganeti-restricted-commands.lock'),
      'exclusive',
      NAMED_PROGRAM_TURN_S,
    ])
    return { release: () => void released++ }
  }
  await expect(runRestricted({ ...requested, lockFile: lock }, 'hello')).resolves.toBe('hello\n')
  expect(released).toBe(1)
  await expect(runRestricted({ ...requested, lockFile: async () => undefined }, 'hello')).rejects.toThrow('')
})
