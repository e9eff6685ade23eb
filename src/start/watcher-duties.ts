// The watcher's work for its own node, and for hanging daemons of the master.
import * as https from 'node:https'
import { nodeDaemons, PlainDaemons } from '../bootstrap/plain-daemons'
import { type Clock, within } from '../lib/clock'
import type { Log } from '../lib/log'
import { thisMachine as machine } from '../lib/machine'
import type { Paths } from '../lib/paths'
import { systemRandom as random } from '../lib/random'
import { PLAIN_ENVIRONMENT } from '../lib/programs/run-command'
import { errorText } from '../lib/system-failure'
import { PORT } from '../model/constants/daemons'
import { HOOK_RESULT } from '../model/constants/hooks'
import { CONFD_ASKED_MAX } from '../model/limits/confd'
import { CHILD_STOP_S } from '../model/limits/daemons'
import { WATCHER_DAEMON_ANSWER_S } from '../model/limits/watcher'
import { ownedDisk as disk } from '../model/owners'
import { candidatesToAsk, endAllInstances, isSurelyOffline } from '../node/health'
import { runScripts } from '../node/hooks'
import { hypervisorsOf } from '../node/hypervisor/index'
import { openSsconf } from '../node/ssconf'
import { shutDownAll } from '../node/storage/drbd/shut-down-all'
import { ConfdClient } from '../rpc/confd/client'
import { CONFD } from '../rpc/confd/protocol'
import { ROLES } from '../roles/table'
import { openWconfd } from '../rpc/wconfd/client'
import { listenAddress, ownAddress } from './own-address'

interface Duties {
  readonly paths: Paths
  readonly log: Log
  readonly clock: Clock
  readonly rapiIp: string | undefined
}

/** Never rejects. */
export async function lookAfterNode(duties: Duties): Promise<void> {
  const { log } = duties
  for (const duty of [startDaemons, runHooks, endWhatMustNotRun])
    await duty(duties).catch((error: unknown) =>
      log.error({ err: error }, 'a duty of the watcher for this node failed'),
    )
}

/** The parent or systemd restarts dead daemons. With neither, daemon-util starts those that do not run. */
async function startDaemons({ paths, log }: Duties): Promise<void> {
  if ((await pidOf(paths, 'node')) !== undefined) return
  const daemons = await nodeDaemons({ paths, disk, ...machine, roles: ROLES })
  // A node without a cluster has none.
  if (daemons instanceof PlainDaemons && machine.files.existsSync(paths.serverCert)) await daemons.startAll()
  if (daemons === undefined)
    log.error(
      'daemons that die are not started again: "gantryd node" does not run on this node, or its pid file is gone',
    )
}

async function runHooks({ paths, log }: Duties): Promise<void> {
  for (const [script, code, output] of await runScripts({ ...machine, paths }, 'watcher', PLAIN_ENVIRONMENT))
    if (code === HOOK_RESULT.failed) log.warn({ script, output }, 'a watcher hook failed')
    else log.debug({ script, output }, code === HOOK_RESULT.ok ? 'a watcher hook ran' : 'not a script')
}

async function endWhatMustNotRun({ paths, log, clock }: Duties): Promise<void> {
  const ssconf = openSsconf(paths, machine.files)
  if (ssconf.value('maintain_node_health') !== 'True') return
  const servers = candidatesToAsk(ssconf, paths.hostname)
  if (servers.length === 0) return
  const key = (await disk.read(paths.hmacKey))?.toString('utf8') ?? ''
  const confd = new ConfdClient({ key, servers, port: PORT.confd, clock, random, warn: (text) => log.warn(text) })
  const replies = await confd.askAll(CONFD.nodeRole, paths.hostname)
  if (!isSurelyOffline(Math.min(servers.length, CONFD_ASKED_MAX), replies)) return
  const bindAddress = await listenAddress(paths)
  const hypervisor = hypervisorsOf({ ...machine, paths, clock, random, log, bindAddress })
  await endAllInstances({ ssconf, hypervisor, log })
  await shutDownAll({ ...machine, paths, ssconf, clock, log, hostname: paths.hostname })
}

/** Ends a daemon that hangs, so that its parent restarts it. Never rejects. */
export async function lookAfterDaemons(duties: Duties): Promise<void> {
  const { paths, log, clock } = duties
  try {
    await endIfSilent(duties, 'rapi', () => rapiAnswers(duties))
    await endIfSilent(duties, 'wconfd', () => wconfdAnswers(paths, clock))
  } catch (error) {
    log.error({ err: error }, 'a daemon that hangs cannot be started again')
  }
}

/** Without a configured address, any will do. */
async function rapiAnswers({ paths, rapiIp, clock }: Duties): Promise<boolean> {
  const ssconf = openSsconf(paths, machine.files)
  const known = ['127.0.0.1', ssconf.value('master_ip'), await ownAddress(paths)]
  const addresses = rapiIp === undefined ? known.filter((one) => one !== undefined) : [rapiIp]
  const answers = addresses.map((host) => answersAt(host, clock))
  return Promise.any(answers).catch(() => false)
}

/** A refusal counts as an answer, and so does plain HTTP because of --no-ssl. Rejects otherwise. */
function answersAt(host: string, clock: Clock): Promise<true> {
  return new Promise((resolve, reject) => {
    const request = https.get({ host, port: PORT.rapi, path: '/version', rejectUnauthorized: false }, (response) => {
      response.resume()
      resolve(true)
      limit.cancel()
    })
    const limit = clock.after(WATCHER_DAEMON_ANSWER_S * 1000, () => request.destroy(new Error('no answer')))
    request.on('error', (error: NodeJS.ErrnoException) => {
      limit.cancel()
      if (error.code === 'EPROTO') resolve(true)
      else reject(error)
    })
  })
}

async function wconfdAnswers(paths: Paths, clock: Clock): Promise<boolean> {
  const wconfd = openWconfd({ path: paths.socket('wconfd'), clock, random })
  try {
    const requested = wconfd.gantryReplicas().then(
      () => true,
      () => false,
    )
    return (await within(clock, WATCHER_DAEMON_ANSWER_S, requested)) === true
  } finally {
    wconfd.close()
  }
}

/**
 * A daemon writes its pid file when it is ready. If the file is newer than our question, the daemon has just started
 * and does not hang.
 */
async function endIfSilent(duties: Duties, role: string, answers: () => Promise<boolean>): Promise<void> {
  const { paths, log } = duties
  const pid = await pidOf(paths, role)
  if (await answers()) return
  if (pid !== undefined) return endDaemon(duties, role, pid)
  log.error({ role }, 'a daemon does not answer: it has not started yet, or nothing starts it')
}

async function endDaemon({ paths, log, clock }: Duties, role: string, pid: number): Promise<void> {
  if ((await pidOf(paths, role)) !== pid) return
  log.warn({ role, pid }, 'a daemon does not answer; it is ended, and its parent starts it again')
  machine.processes.signal(pid, 'SIGTERM')
  for (let left_s = CHILD_STOP_S; left_s > 0 && (await pidOf(paths, role)) === pid; left_s--) await clock.sleep(1000)
  if ((await pidOf(paths, role)) === pid) machine.processes.signal(pid, 'SIGKILL')
}

/** The daemon's process on this node, if it really is one: another process may have the number in the file by now. */
async function pidOf(paths: Paths, role: string): Promise<number | undefined> {
  const pid = Number((await disk.read(paths.pidFile(role)))?.toString('utf8') ?? Number.NaN)
  if (!Number.isInteger(pid)) return undefined
  const command = await machine.files
    .readFile(`/proc/${pid}/cmdline`, 'utf8')
    .catch((error: unknown) => errorText(error))
  return command.includes(`ganeti-${role}`) ? pid : undefined
}
