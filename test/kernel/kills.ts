// Operations on mirrors in which a node's daemon, the job or the whole master is killed at a random moment. Afterwards no write that was
// acknowledged is lost, the sides of the mirror have not written without each other, and all that is left over is named by verify with
// the command that mends it, which is then carried out.
import { seededRandom, type Random } from '../../src/lib/random'
import { Leftovers } from './leftovers'
import { type Machines, nameOf } from './machines'
import type { Mirrors } from './mirrors'
import { Writers } from './writers'

const NAME = 'inst4.gnt.example'
const [PRIMARY, SECONDARY, NEW] = [1, 2, 3]
const SIZE = '16m'

const NEW_NODE = 'the daemon of the new node'
type Victim =
  'the daemon of the primary node' | 'the daemon of the secondary node' | typeof NEW_NODE | 'the job' | 'the master'
const VICTIMS: readonly Victim[] = [
  'the daemon of the primary node',
  'the daemon of the secondary node',
  'the job',
  'the master',
]

interface Operation {
  /** What the instance is before. */
  readonly from: 'drbd' | 'plain' | 'nothing'
  readonly words: readonly string[]
  /** How long it takes beside the creation of a mirror. */
  readonly takes: number
  /** The disk is written to meanwhile. */
  readonly inUse?: true
  /** A node that works for it besides. */
  readonly alsoOn?: typeof NEW
}

const mirrored = (...words: string[]): Operation => ({
  from: 'drbd',
  words: ['instance', ...words, NAME],
  inUse: true,
  takes: 1,
})

const OPERATIONS: Readonly<Record<string, Operation>> = {
  create: {
    ...{ from: 'nothing', takes: 1 },
    words: [
      ...['instance', 'add', '-t', 'drbd', '--disk', `0:size=${SIZE}`, '-n', `${nameOf(PRIMARY)}:${nameOf(SECONDARY)}`],
      ...['-o', 'gantry-tiny', '--no-nics', '--no-start', '-B', 'memory=16', NAME],
    ],
  },
  'replace on the primary': mirrored('replace-disks', '-p'),
  'replace on the secondary': mirrored('replace-disks', '-s'),
  'replace the secondary': { ...mirrored('replace-disks', '-n', nameOf(NEW)), alsoOn: NEW },
  grow: { from: 'drbd', words: ['instance', 'grow-disk', NAME, '0', '16m'], inUse: true, takes: 0.7 },
  migrate: { from: 'drbd', words: ['instance', 'migrate', '-f', NAME], inUse: true, takes: 0.7 },
  'convert to drbd': {
    ...{ from: 'plain', takes: 1.2 },
    words: ['instance', 'modify', '-t', 'drbd', '-n', nameOf(SECONDARY), NAME],
  },
  'convert to plain': { from: 'drbd', words: ['instance', 'modify', '-t', 'plain', NAME], takes: 0.5 },
}

export interface Moment {
  readonly operation: string
  readonly victim: Victim
  /** The part of the operation's usual time after which it happens. */
  readonly at: number
}

export function randomMoments(count: number, seed: number): Moment[] {
  const random = seededRandom(seed)
  const one = <T>(list: readonly T[]): T => {
    const chosen = list[random.below(list.length)]
    if (chosen === undefined) throw new Error('nothing to choose from')
    return chosen
  }
  return Array.from({ length: count }, () => {
    const operation = one(Object.keys(OPERATIONS))
    const victims: readonly Victim[] = OPERATIONS[operation]?.alsoOn === undefined ? VICTIMS : [...VICTIMS, NEW_NODE]
    return { operation, victim: one(victims), at: part(random) }
  })
}

const part = (random: Random): number => random.below(1000) / 1000

export class Kills {
  /** How long it takes to make a mirror here and now. */
  private creation_ms = 0
  private data: string | undefined
  private readonly leftovers: Leftovers

  constructor(
    private readonly machines: Machines,
    private readonly mirrors: Mirrors,
  ) {
    this.leftovers = new Leftovers(machines, [PRIMARY, SECONDARY, NEW])
  }

  async carryOut({ operation, victim, at }: Moment): Promise<void> {
    const chosen = OPERATIONS[operation]
    if (chosen === undefined) throw new Error(`no operation ${operation}`)
    const { from, words, takes, inUse } = chosen
    await this.prepare(from, operation === 'migrate')
    const writers = inUse && (await this.writing())
    try {
      const job = await this.submit(words)
      await new Promise((resolve) => setTimeout(resolve, at * takes * this.creation_ms))
      await this.kill(victim)
      await this.machines.settle(job)
      await this.expectMended(operation === 'migrate')
      await writers?.expectKept(await this.primary())
    } catch (error) {
      // Why it failed says more than that its writers do not end.
      await writers?.stop().catch(() => undefined)
      throw error
    }
    await writers?.stop()
  }

  /** Removes the instance, after which nothing of it is left. */
  async end(): Promise<void> {
    await this.remove()
    for (const { node, names } of await this.leftovers.found())
      throw new Error(`${nameOf(node)} has ${names.join(', ')} still`)
  }

  private async prepare(from: Operation['from'], running: boolean): Promise<void> {
    const fits = (await this.template()) === from && (await this.isOnItsNodes(from))
    if (!fits) await this.remove()
    if (from !== 'nothing' && !fits) {
      const started_ms = Date.now()
      await this.mirrors.add(NAME, from, from === 'drbd' ? [PRIMARY, SECONDARY] : [PRIMARY], SIZE)
      if (from === 'drbd') this.creation_ms = Date.now() - started_ms
    }
    if (this.creation_ms === 0) this.creation_ms = 15_000
    if (from === 'nothing') return void (this.data = undefined)
    const device = await this.mirrors.device(NAME, '--wait-for-sync')
    this.data = await this.mirrors.write(await this.primary(), device)
    if (running) await this.machines.gnt('instance', 'startup', NAME)
    else if (from === 'plain') await this.machines.gnt('instance', 'deactivate-disks', NAME)
  }

  private async writing(): Promise<Writers> {
    const writers = new Writers(this.machines, [PRIMARY, SECONDARY, NEW], await this.mirrors.device(NAME))
    await writers.start()
    await writers.getsOn(await this.primary())
    return writers
  }

  private async isOnItsNodes(template: string): Promise<boolean> {
    const [primary, secondary] = await this.mirrors.sides(NAME)
    return template === 'plain' ? primary === PRIMARY : primary !== NEW && secondary !== NEW
  }

  private async submit(words: readonly string[]): Promise<string> {
    const reported = await this.machines.gnt(...words.slice(0, 2), '--submit', ...words.slice(2))
    const [, job] = /JobID: (\d+)/.exec(reported) ?? []
    if (job === undefined) throw new Error(`${words.join(' ')} --submit names no job: ${reported}`)
    return job
  }

  private async kill(victim: Victim): Promise<void> {
    switch (victim) {
      case 'the daemon of the primary node':
        return this.machines.killDaemon(PRIMARY)
      case 'the daemon of the secondary node':
        return this.machines.killDaemon(SECONDARY)
      case NEW_NODE:
        return this.machines.killDaemon(NEW)
      case 'the job':
        return this.machines.killJob()
      case 'the master':
        return this.machines.killMaster()
    }
  }

  private async expectMended(migrated: boolean): Promise<void> {
    for (const node of [PRIMARY, SECONDARY, NEW]) {
      const split = await this.machines.inGuest(node, "dmesg | grep -i 'split-brain' || true")
      if (/split-brain detected/i.test(split)) throw new Error(`${nameOf(node)}: ${split}`)
    }
    if (migrated && (await this.template()) !== undefined)
      await this.machines.gnt('instance', 'migrate', '--cleanup', '-f', NAME)
    await this.leftovers.mend(() => this.why())
    if (this.data === undefined || (await this.template()) === undefined) return
    const device = await this.mirrors.device(NAME, '--wait-for-sync')
    const now = await this.mirrors.read(await this.primary(), device)
    if (now !== this.data) throw new Error(`what was written is lost: ${device} of ${NAME} has ${now}`)
  }

  /** What keeps the disks from being active. */
  private async why(): Promise<string | undefined> {
    const is = await this.template()
    if (is === undefined) return undefined
    try {
      await this.mirrors.device(NAME, '--wait-for-sync')
      return undefined
    } catch (error) {
      return String(error)
    }
  }

  private async template(): Promise<string | undefined> {
    const [, template] = (await this.machines.gnt('instance', 'list', '--no-headers', '-o', 'name,disk_template'))
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .find(([name]) => name === NAME) ?? [undefined, undefined]
    return template
  }

  private async primary(): Promise<number> {
    return (await this.mirrors.sides(NAME))[0]
  }

  private async remove(): Promise<void> {
    if ((await this.template()) !== undefined) await this.machines.gnt('instance', 'remove', '-f', NAME)
  }
}
