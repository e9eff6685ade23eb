// Starts mond with all that it needs.
import { existsSync } from 'node:fs'
import { History } from '../collectors/history/history'
import { readHistory, writeHistory } from '../collectors/history/saved'
import { Monitor } from '../collectors/monitor'
import { Plugins } from '../collectors/plugins'
import { COLLECTORS } from '../collectors/registry'
import type { NodeSources } from '../collectors/report'
import { startMond } from '../daemons/mond/server'
import { CollectorSettings } from '../daemons/mond/settings'
import { systemClock as clock, within } from '../lib/clock'
import { sha1Hmac } from '../lib/hmac'
import { thisMachine } from '../lib/machine'
import { readMetrics } from '../lib/self-metrics'
import type { Paths } from '../lib/paths'
import { systemRandom as random } from '../lib/random'
import { errorText } from '../lib/system-failure'
import { MONITORING_PLUGINS_DIR } from '../model/constants/collectors'
import { PORT } from '../model/constants/daemons'
import { PATH } from '../model/constants/paths'
import { OWN_FIGURES_S, PLUGINS_LOOK_S, REPORT_S } from '../model/limits/collectors'
import { FIRST_ANSWER_S } from '../model/limits/mond'
import { ownedDisk as disk } from '../model/owners'
import { ConfdClient } from '../rpc/confd/client'
import { clocksOf } from '../rpc/confd/clocks'
import { SilentServers } from '../rpc/confd/silent'
import { defaultSimSocket } from '../rpc/node/sim-socket'
import { openNodeSources } from './node-sources'
import { listenAddress, ownAddress } from './own-address'
import type { Start, Surroundings } from './start'

export const start: Start = async ({ paths, log, options }) => {
  const { hostname } = paths
  const address = options.bind?.[0] ?? (await ownAddress(paths))
  const simSocket = defaultSimSocket(paths)
  const simulated = simSocket !== undefined && existsSync(simSocket)
  // In a recorded cluster, addresses belong to other machines, so none is asked.
  const candidates = candidatesOf(paths, log, simulated && address !== undefined ? [address] : undefined)
  const settings = new CollectorSettings({
    ...{ ask: candidates.ask, clock, log },
    onTold: (switches) => monitor.follow(switches),
  })
  const sources: NodeSources = {
    ...{ ...openNodeSources(paths, log), ...(simulated && (await simulatedSources(paths))) },
    ...{ clock, hostname, paths, simulated, ...onceHeard(candidates, settings) },
    figures: (role) => readMetrics(paths.figuresSocket(role), clock, OWN_FIGURES_S),
    warn: (text) => log.debug(text),
  }
  let key = await keyOf(paths)
  const history = await openHistory(sources, paths, log)
  // Signs the node's name too, so that nobody can present it as the report of another node.
  const sign = (report: string, time_ns: number) => {
    const salt = String(time_ns)
    const msg = `{"node":${JSON.stringify(hostname)},"report":${report}}`
    return { signed: { msg, salt, hmac: sha1Hmac(key, msg, salt) } }
  }
  const monitor = new Monitor({ clock, log, sign })
  const builtIn = COLLECTORS.map((one) => ({ ...one, open: () => one.open(sources, {}) }))
  const folder = options.plugins ?? paths.local(MONITORING_PLUGINS_DIR)
  const plugins = new Plugins({ ...thisMachine, clock, folder, uid: process.geteuid?.() ?? 0 })
  const names = builtIn.map(({ name }) => name)
  const watchAll = async () => {
    const found = await plugins.find(names).catch((error: unknown) => {
      log.warn({ folder, failure: errorText(error) }, 'the folder of plugins cannot be read')
      return []
    })
    monitor.watch([...builtIn, ...found])
    lookLater()
  }
  const lookLater = () => void clock.after(PLUGINS_LOOK_S * 1000, () => void watchAll(), { background: true })
  void settings.start()
  await watchAll()
  const mond = await startMond({
    ...{ files: thisMachine.files, monitor, history, clock, log, random, hostname, accessLog: options.accessLog },
    ...{ addresses: options.bind ?? [await listenAddress(paths)], port: options.port },
    configAge_s: () => settings.age_s(),
    async named() {
      await within(clock, REPORT_S, settings.known)
      return settings.named()
    },
  })
  return {
    tell: () => mond.tell(),
    async close() {
      for (const part of [settings, monitor]) part.close()
      await mond.close()
      await history.close()
    },
    reload: () => void keyOf(paths).then((read) => (key = read)),
  }
}

/** Continues the history of an earlier process of this node. */
async function openHistory(sources: NodeSources, paths: Paths, log: Surroundings['log']): Promise<History> {
  const file = paths.local(PATH.MOND_HISTORY)
  const history = new History({ sources, log, save: (saved) => writeHistory(disk, file, saved) })
  const before = await readHistory(disk, file, log)
  if (before !== undefined) history.restore(before)
  void history.start()
  return history
}

const keyOf = async (paths: Paths): Promise<string> => (await disk.read(paths.hmacKey))?.toString('utf8') ?? ''

/** Few clusters are simulated, so this is loaded only for them. */
async function simulatedSources(paths: Paths): Promise<Pick<NodeSources, 'backEnd'>> {
  const { simulatedBackEnd } = await import('./simulated-back-end.js')
  return { backEnd: simulatedBackEnd(paths) }
}

type Candidates = Pick<NodeSources, 'ask' | 'candidateClocks'>

/** When a node starts, its collectors wait a moment for confd's first answer. */
function onceHeard(candidates: Candidates, { known }: CollectorSettings): Candidates {
  const received = () => within(clock, FIRST_ANSWER_S, known)
  return {
    ask: async (question, query) => received().then(() => candidates.ask(question, query)),
    candidateClocks: async () => received().then(() => candidates.candidateClocks()),
  }
}

/** The candidates and the key are read for each question, to follow their changes. */
function candidatesOf(paths: Paths, log: Surroundings['log'], only?: readonly string[]): Candidates {
  const warn = (text: string) => log.warn(text)
  const silent = new SilentServers(clock)
  const asking = async () => {
    const lines = ((await disk.read(paths.ssconf('master_candidates_ips'))) ?? '').toString('utf8').split('\n')
    const servers = only ?? lines.filter((line) => line !== '')
    return { key: await keyOf(paths), servers, port: PORT.confd, clock, random, warn, silent }
  }
  return {
    ask: async (question, query) => new ConfdClient(await asking()).ask(question, query === '' ? null : query),
    candidateClocks: async () => clocksOf(await asking()),
  }
}
