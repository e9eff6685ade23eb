// Moves one instance. Jobs of both clusters copy its data. On any failure the source has the instance as before, and
// the destination nothing of it. The source removes it only when the destination has confirmed that all of it has
// arrived.
import type { Clock } from '../../lib/clock'
import { errorText } from '../../lib/system-failure'
import { ELOG_REMOTE_IMPORT } from '../../model/constants/exports'
import { ECODE, OpPrereqError } from '../../model/errors'
import { RapiSilence } from '../../rpc/rapi/client'
import { creationRequest, type Changes, ownParameters, type Sender } from './creation'
import { fieldsOf, instancePath, JobFailure, type Fields, type LogLine, type RemoteCluster } from './remote-cluster'

export interface Move {
  readonly name: string
  readonly newName: string
  readonly compress: string
  readonly changes: Changes
  /** Attempts to create it with the nodes whose locks are free. */
  readonly tries: number
  readonly delay_s: number
  readonly keep: boolean
}

export interface Surroundings {
  readonly source: RemoteCluster
  readonly destination: RemoteCluster
  readonly clock: Clock
  /** Prints a step. */
  say(text: string): void
  /** Prints a job's log. */
  detail(text: string): void
}

export async function moveInstance(around: Surroundings, move: Move): Promise<void> {
  const { source, destination } = around
  const observed = await source.instance(move.name)
  if (observed === undefined) throw new Error(`There is no instance ${move.name} in ${source.title}`)
  if ((await destination.instance(move.newName)) !== undefined)
    throw new Error(
      `There is an instance ${move.newName} in ${destination.title} already; --dest-instance-name gives this one another name`,
    )
  const path = instancePath(move.name)
  around.say(`Preparing its export in ${source.title}`)
  const { handshake, x509_key_name, x509_ca } = fieldsOf(await source.run('PUT', `${path}/prepare-export?mode=remote`))
  // Only now it knows for sure how large its disks are.
  const answers = fieldsOf(await source.run('GET', `${path}/info?static=1`))
  const info = fieldsOf(answers[String(observed['name'])])
  const sender = { handshake, x509_key_name, x509_ca }
  const transfer = new Transfer(around, move, info, sender)
  await transfer.run(creationRequest(info, observed['tags'], sender, move, await takesOwnParameters(around, info)))
  if (move.keep) await transfer.startSource()
  else await removeFrom(source, move.name, `The data has moved to ${destination.title}, but it is still in`)
}

/** Whether disks keep the parameters that they have for themselves. Ganeti refuses a disk with them. */
async function takesOwnParameters({ destination, say }: Surroundings, info: Fields): Promise<boolean> {
  const disks = Array.isArray(info['disks']) ? info['disks'].map(fieldsOf) : []
  const own = disks.flatMap((disk, index) =>
    Object.entries(ownParameters(disk)).map(([name, value]) => `${name}=${String(value)} of disk ${index}`),
  )
  if (own.length === 0 || (await destination.isGantry())) return true
  say(
    `${destination.title} has no parameters for single disks, so these get the values of its groups: ${own.join(', ')}`,
  )
  return false
}

class Transfer {
  private readonly path: string
  /** The source's job; undefined until the destination has said where to send. */
  private sent: Promise<void> | undefined
  private whole = false
  private stopped = false

  constructor(
    private readonly around: Surroundings,
    private readonly move: Move,
    private readonly info: Fields,
    private readonly sender: Sender,
  ) {
    this.path = instancePath(move.name)
  }

  /** Resolves when the destination has all of it. Rejects when the destination has nothing of it any more. */
  async run(request: Fields): Promise<void> {
    try {
      await this.receive(request)
      await this.sent
    } catch (error) {
      // Waits for both ends before anything is undone.
      const sending = await this.sent?.then(
        () => undefined,
        (reason: unknown) => reason,
      )
      const reasons = new Set([error, ...(sending === undefined ? [] : [sending])].map(errorText))
      throw new Error([...reasons, ...(await this.takeBack(error))].join('; '))
    }
  }

  async startSource(): Promise<void> {
    if (!this.stopped) return
    this.around.say(`Starting it again in ${this.around.source.title}`)
    await this.around.source.run('PUT', `${this.path}/startup`)
  }

  private async receive(request: Fields): Promise<void> {
    const { around, move } = this
    const { destination } = around
    for (let tries = move.tries; ; tries--) {
      around.say(`Creating ${move.newName} in ${destination.title}`)
      const opportunistic_locking = tries > 0
      try {
        await destination.run('POST', '/2/instances', { ...request, opportunistic_locking }, (line) => this.hear(line))
        return
      } catch (error) {
        if (!opportunistic_locking || !isForNow(error)) throw error
        around.say(`Its nodes are busy: trying again in ${move.delay_s} s`)
        await around.clock.sleep(move.delay_s * 1000)
      }
    }
  }

  /** The log of the destination's job says where it waits for the data. */
  private hear([, , type, message]: LogLine): void {
    if (type !== ELOG_REMOTE_IMPORT) return this.around.detail(`${this.around.destination.title}: ${textOf(message)}`)
    const { disks, x509_ca } = fieldsOf(message)
    this.sent = this.send(disks, x509_ca).then(() => void (this.whole = true))
    this.sent.catch(() => {
      this.around.say(`Sending has failed; ${this.around.destination.title} may wait for it for some minutes`)
    })
  }

  private async send(disks: unknown, x509_ca: unknown): Promise<void> {
    const { around, move } = this
    const { source } = around
    const hear = ([, , , message]: LogLine) => around.detail(`${source.title}: ${textOf(message)}`)
    if (this.info['config_state'] === 'up') {
      around.say(`Stopping it in ${source.title}`)
      // A failed job may have stopped it too.
      this.stopped = true
      await source.run('PUT', `${this.path}/shutdown`, undefined, hear)
    }
    around.say(`Sending its disks to ${around.destination.title}`)
    const result = await source.run(
      'PUT',
      `${this.path}/export`,
      {
        ...{ mode: 'remote', destination: disks, shutdown: true, remove_instance: false },
        ...{ x509_key_name: this.sender.x509_key_name, destination_x509_ca: x509_ca, compress: move.compress },
      },
      hear,
    )
    const [finalized, sent] = Array.isArray(result) ? (result as unknown[]) : []
    const failed = Array.isArray(sent) ? sent.flatMap((ok, index) => (ok === true ? [] : [index])) : []
    if (finalized !== true || failed.length > 0)
      throw new Error(`${source.title} could not send disks ${failed.join(', ')}`)
  }

  /** Restores both clusters. Returns what could not be undone. */
  private async takeBack(error: unknown): Promise<string[]> {
    const { source, destination } = this.around
    const left: string[] = []
    const note = (reason: unknown) => void left.push(errorText(reason))
    let gone = true
    if (error instanceof RapiSilence) {
      gone = false
      left.push(`look for ${this.move.newName} in ${destination.title} and remove it there`)
    } else if (this.isMade(error))
      await this.removeMade().catch((reason: unknown) => {
        gone = false
        note(reason)
      })
    if (!gone && this.whole) left.push(`it stays stopped in ${source.title}, because it may run in the other cluster`)
    else await this.startSource().catch(note)
    return left
  }

  /** If the job had not prepared to make it, it does not exist, or is somebody else's. */
  private isMade(error: unknown): boolean {
    return this.sent !== undefined || (error instanceof JobFailure && !(error.why instanceof OpPrereqError))
  }

  private async removeMade(): Promise<void> {
    const { destination, say } = this.around
    if ((await destination.instance(this.move.newName)) === undefined) return
    say(`Removing what has arrived in ${destination.title}`)
    await removeFrom(destination, this.move.newName, 'A part of it is still in')
  }
}

async function removeFrom(cluster: RemoteCluster, name: string, otherwise: string): Promise<void> {
  await cluster.run('DELETE', instancePath(name)).catch((error: unknown) => {
    throw new Error(
      `${otherwise} ${cluster.title}: remove it there with gnt-instance remove ${name} (${errorText(error)})`,
    )
  })
}

const isForNow = (error: unknown): boolean =>
  error instanceof JobFailure && error.why instanceof OpPrereqError && error.why.code === ECODE.TEMP_NORES

const textOf = (message: unknown): string => (typeof message === 'string' ? message : JSON.stringify(message))
