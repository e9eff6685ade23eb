// Asks verify what is amiss when all is quiet, and does what it says, word by word, as an administrator would. Whatever users and faults left
// must be gone then.
import { LuxiClient } from '../../src/rpc/luxi/client'
import { runCli } from '../support/run-cli'
import type { Ledger } from './ledger'
import type { SimCluster } from './sim-cluster'
import type { SimProcess } from './simulator'

/** A way out may need another one first: a volume is in use while its minor is. */
const ROUNDS = 6
const PAUSE_S = 30
/** Clocks were set. Nobody has to follow that. */
const WANTED = new Set(['ENODETIME'])

interface Finding {
  readonly code: string
  readonly item: string
  readonly text: string
}

export class Caretaker {
  private readonly luxi: LuxiClient

  constructor(
    private readonly process: SimProcess,
    private readonly cluster: SimCluster,
    private readonly ledger: Ledger,
    /** The names of all instances with mirrored disks. */
    private readonly mirrored: () => Promise<readonly string[]>,
  ) {
    this.luxi = new LuxiClient({ path: cluster.master.paths.socket('query'), clock: process.clock })
  }

  /** Resolves when verify has nothing more to say, or says the same again and again. */
  async work(): Promise<void> {
    let found: Finding[] = []
    const tried: string[] = []
    for (let round = 0; round < ROUNDS; round++) {
      found = await this.verify()
      if (found.length === 0) return this.activate()
      for (const finding of found) tried.push(await this.mend(finding))
      await this.process.clock.sleep(PAUSE_S * 1000)
    }
    for (const { code, item, text } of found)
      this.ledger.complain(`verify says for ever: ${code} ${item}: ${text}. Tried: ${tried.slice(-3).join(' / ')}`)
  }

  /** A stopped instance may have a side that is behind. Whoever starts it gets all its data from the other one. */
  private async activate(): Promise<void> {
    for (const name of await this.mirrored()) {
      const { exit, stderr } = await this.run(['gnt-instance', 'activate-disks', '--wait-for-sync', name])
      if (exit !== 0) this.ledger.complain(`the disks of ${name} cannot be activated: ${stderr}`)
    }
  }

  private async verify(): Promise<Finding[]> {
    const { stdout, stderr } = await this.run(['gnt-cluster', 'verify', '--error-codes'])
    const found = `${stdout}\n${stderr}`.split('\n').flatMap((line): Finding[] => {
      const [, code = '', item = '', text = ''] = /- (?:ERROR|WARNING):(\w+):\w+:([^:]*):(.*)/.exec(line) ?? []
      return code === '' || WANTED.has(code) ? [] : [{ code, item, text }]
    })
    if (!/Verifying node status/.test(stdout)) this.ledger.complain(`verify did not run: ${stdout} ${stderr}`)
    for (const { code, item, text } of found) this.cluster.simulator.note('verify', `${code} ${item}: ${text}`)
    return found
  }

  /** Runs one of the commands that the finding names. Returns what came of it. */
  private async mend({ item, text }: Finding): Promise<string> {
    const { simulator } = this.cluster
    const commands = [...text.matchAll(/['"]((?:gnt-|lv|drbdsetup |mv |rm )[^'"]*)['"]/g)].map(
      ([, command = '']) => command,
    )
    const isEnd = (command: string) => /^gnt-instance (remove|recreate-disks) /.test(command)
    const isPromised = this.ledger.isThere({ kind: 'instance', name: item })
    const possible = commands.filter((command) => !(isPromised && isEnd(command)))
    if (possible.length === 0 && commands.length > 0)
      this.ledger.complain(`verify tells to take away what somebody was promised: ${text}`)
    if (possible.length === 0) return `nothing: ${text}`
    // Whoever reads NODE chooses one.
    const command = simulator.pick(possible).replace('NODE', simulator.pick([...this.cluster.machines.keys()]))
    const words = command.split(' ')
    simulator.note('caretaker', command)
    if (!command.startsWith('gnt-')) return `${command}: ${await this.onNode(item, words)}`
    const { exit, stderr } = await this.run(words)
    return `${command}: exit ${exit} ${stderr}`
  }

  private run(words: readonly string[]) {
    const answers = Array.from({ length: 10 }, () => 'y')
    return this.process.run(() => runCli(this.luxi, words, { clock: this.process.clock, answers }))
  }

  /** The commands of files, LVM and DRBD on a node. */
  private async onNode(node: string, [program, ...args]: readonly string[]): Promise<string> {
    const { mirrors } = this.cluster
    try {
      const { world } = this.cluster
      const [first = '', second = '', third = ''] = args
      if (program === 'mv') world.renameFile(node, first, second)
      else if (program === 'rm') world.removeFile(node, first)
      else if (program === 'lvremove') mirrors.discard(node, first)
      else if (program === 'lvrename') mirrors.moveVolume(node, `${first}/${second}`, `${first}/${third}`)
      else if (program === 'drbdsetup') await mirrors.down(node, Number(/\d+$/.exec(second)?.[0]))
      else return 'no such program'
      return 'done'
    } catch (error) {
      return String(error)
    }
  }
}
