// A helper machine: for a while an instance boots an image from an added disk. The image works on the instance's own
// disks, then powers the machine off. While anything of the added disk exists, it is in the configuration, marked as
// forthcoming: if the job dies, gnt-cluster verify names it. It is the last disk, so an instance that is started
// meanwhile boots its own system.
import { change } from '../../config/changes'
import { durationText } from '../../lib/text/duration-text'
import { OpExecError } from '../../model/errors'
import { HELPER_LOOK_S, HELPER_NEWS_S } from '../../model/limits/operations'
import type { InstanceDict } from '../../rpc/node/dicts'
import { hvParamsOf, runtimeOf, USER_DOWN } from '../instance/checks'
import { assembleDisks, shutdownDisks } from '../instance/disks/activation'
import { createDisks, removeDisks } from '../instance/disks/files'
import { startOn } from '../instance/startup'
import { dictOf, diskDictOf, diskDicts, reread, type InstanceView } from '../instance/view'
import { waitForStop } from '../instance/wait-for-stop'
import type { UnitContext } from '../unit-context'
import type { Zeroing } from './zeroing'

export class HelperMachine {
  private hasDisk = true
  private mayRun = false

  private constructor(
    private readonly ctx: UnitContext,
    /** The instance without the helper's disk. */
    private readonly view: InstanceView,
    private readonly zeroing: Zeroing,
  ) {}

  /** Makes its disk. The instance may still run. */
  static async made(ctx: UnitContext, view: InstanceView, zeroing: Zeroing): Promise<HelperMachine> {
    const helper = new HelperMachine(ctx, view, zeroing)
    const { disk, image } = zeroing
    helper.say(`Creating a temporary disk of ${disk.size} MiB with image ${image}`)
    const forthcoming = { ...disk, forthcoming: true } as const
    await ctx.config.change([...zeroing.confirmed, change('addInstanceDisk', view.instance.uuid, forthcoming)])
    try {
      await createDisks(ctx, view, [disk])
      const what = `Could not write image '${image}' to the temporary disk on node ${view.primary.name}`
      await ctx.nodes.call(view.primary, what, 'blockdev_image', [diskDictOf(view, disk), image, disk.size])
    } catch (error) {
      await helper.discard()
      throw error
    }
    return helper
  }

  /** Whether nothing runs in the instance's place, so that it can be started. */
  get hasEnded(): boolean {
    return !this.mayRun
  }

  /** Starts it instead of the instance, which is stopped with active disks, and waits until it has powered off. */
  async run(stop_s: number): Promise<void> {
    const { ctx, view, zeroing } = this
    const { ok } = await assembleDisks(ctx, view, { disks: [zeroing.disk] })
    if (!ok) throw new OpExecError(`Can't activate the disk of the helper VM with image ${zeroing.image}`)
    // The image is not the instance's system, so it gets none of its OS parameters.
    const nobody = { os: '', osparams: {}, osparams_private: {} }
    const dict = { ...dictOf(view, zeroing.overrides), ...nobody, disks_info: diskDicts(this.withDisk) }
    this.mayRun = true
    try {
      this.say('Starting helper VM')
      const result = await startOn(ctx, view.primary, dict)
      if (!result.ok) throw new OpExecError(`Could not start helper VM with image ${zeroing.image}: ${result.error}`)
      this.say(`Waiting for helper VM to finish, for at most ${durationText(zeroing.limit_s)}`)
      await this.ended()
    } finally {
      await this.stop(dict, stop_s)
    }
    this.say('Helper VM has finished')
  }

  /** Removes its disk, once. Keeps the disk of a machine that may still run. */
  async discard(): Promise<void> {
    if (!this.hasDisk || this.mayRun) return
    this.hasDisk = false
    const { ctx, zeroing } = this
    const { disk } = zeroing
    const now = await reread(ctx, this.view)
    this.say('Removing the temporary disk')
    await shutdownDisks(ctx, now, { disks: [disk] })
    if (await removeDisks(ctx, now, [disk]))
      await ctx.config.change([change('removeInstanceDisk', now.instance.uuid, disk.uuid)])
    else
      ctx.log.warning(
        `Disk ${this.index} stays in the configuration, because it could not be removed`,
        `remove it with ${this.removal}`,
      )
  }

  /** The instance as it boots the helper: the added disk is first. */
  private get withDisk(): InstanceView {
    return { ...this.view, disks: [this.zeroing.disk, ...this.view.disks] }
  }

  private get index(): number {
    return this.view.disks.length
  }

  private get removal(): string {
    return `'gnt-instance modify --disk ${this.index}:remove ${this.view.instance.name}'`
  }

  private say(text: string): void {
    this.ctx.log.say(`Zeroing free disk space: ${text}`)
  }

  private async ended(): Promise<void> {
    const { clock } = this.ctx.env
    const { limit_s, image } = this.zeroing
    const start_ms = clock.monotonic_ms()
    for (let news_s = HELPER_NEWS_S; ;) {
      const state = await this.state()
      if (state === 'ended') return
      // QEMU halts a guest when its writes find no room.
      if (state === 'io-error')
        throw new OpExecError(`Helper VM with image ${image} cannot write to its disks: has the storage run full?`)
      const waited_s = (clock.monotonic_ms() - start_ms) / 1000
      if (waited_s >= limit_s)
        throw new OpExecError(
          `Helper VM with image ${image} has not finished within ${durationText(limit_s)}, so it was stopped; ` +
            '--zeroing-timeout-fixed and --zeroing-timeout-per-mib give it longer',
        )
      if (waited_s >= news_s) {
        this.say(`Helper VM has worked for ${durationText(waited_s)}`)
        news_s += HELPER_NEWS_S
      }
      await clock.sleep(Math.min(HELPER_LOOK_S, limit_s - waited_s) * 1000)
    }
  }

  /** A node without an answer may have changed the state, so it is asked again. */
  private async state(): Promise<string> {
    const { ctx, view } = this
    const { instance, primary } = view
    const args = [instance.name, instance.hypervisor, hvParamsOf(view)] as const
    const answer = await ctx.nodes.attempt(primary, 'instance_info', [...args])
    if (!answer.ok) return 'unknown'
    const runtime = runtimeOf(answer.payload)
    return runtime === undefined || runtime.state === USER_DOWN ? 'ended' : (runtime.machine_state ?? 'running')
  }

  /** Also after it has ended, since the node may keep remains of it. */
  private async stop(dict: InstanceDict, limit_s: number): Promise<void> {
    const { ctx, view } = this
    const { name } = view.instance
    const what = `The helper VM of instance ${name} may still run on node ${view.primary.name}: stop it with 'gnt-instance shutdown ${name}', and remove its disk with ${this.removal}`
    await waitForStop(
      ctx,
      { name, limit_s },
      ctx.nodes.call(view.primary, what, 'instance_shutdown', [dict, limit_s, ctx.reason]),
    )
    this.mayRun = false
  }
}
