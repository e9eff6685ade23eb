// The OS parameter `os-image`: an image for the first disk, instead of an installation or before one.
import { ECODE, OpPrereqError } from '../../../model/errors'
import type { UnitContext } from '../../unit-context'
import { diskDictOf, type InstanceView } from '../view'

export const OS_IMAGE = 'os-image'

/** Undefined if there is none. */
export function osImage(params: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const image = params?.[OS_IMAGE]
  if (image === undefined) return undefined
  const text = String(image)
  if (/^(\/|https?:\/\/)/.test(text)) return text
  throw new OpPrereqError('OS image must be an absolute path or a URL', ECODE.INVAL)
}

export async function imageDisks(ctx: UnitContext, view: InstanceView, image: string): Promise<void> {
  const { instance, primary } = view
  const [disk] = view.disks
  if (disk === undefined)
    throw new OpPrereqError(`Instance '${instance.name}' has no disk for the image '${image}'`, ECODE.INVAL)
  ctx.log.info(`Imaging disk '0' for instance '${instance.name}' on node '${primary.name}'`)
  const what = `Could not image disk '0' for instance '${instance.name}' on node '${primary.name}'`
  await ctx.nodes.call(primary, what, 'blockdev_image', [diskDictOf(view, disk), image, disk.size])
}
