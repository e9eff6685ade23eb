// What an instance keeps of its OS parameters when it gets another OS.
import type { Instance, Node } from '../../../model/config'
import type { UnitContext } from '../../unit-context'
import { OS_IMAGE } from '../create/os-image'
import type { InstanceView } from '../view'

/**
 * The instance, without the parameters of its old OS that the new one does not have: the new one's scripts would refuse them, or
 * they would stay for ever.
 */
export async function withParamsOf(
  ctx: UnitContext,
  { instance, primary }: InstanceView,
  os: string,
): Promise<Instance> {
  if (os === '' || baseOf(os) === baseOf(instance.os)) return instance
  const known = await parametersOf(ctx, primary, os)
  if (known === undefined) return instance
  const dropped = new Set<string>()
  const kept = <T>(params: Readonly<Record<string, T>> = {}): Record<string, T> =>
    Object.fromEntries(
      Object.entries(params).filter(([name]) => {
        // The image is for any OS.
        if (known.includes(name) || name === OS_IMAGE) return true
        dropped.add(name)
        return false
      }),
    )
  const { osparams, osparams_private } = instance
  const changed = { ...instance, osparams: kept(osparams), osparams_private: kept(osparams_private) }
  if (dropped.size === 0) return instance
  ctx.log.info(
    `OS '${baseOf(os)}' does not have these parameters, which are removed: ${[...dropped].sort().join(', ')}`,
  )
  return changed
}

/** The parameters that the node's OS definition lists. A node that does not say so refuses the OS when it is asked to check it. */
export async function parametersOf(ctx: UnitContext, node: Node, os: string): Promise<string[] | undefined> {
  const result = await ctx.nodes.attempt(node, 'os_diagnose', [])
  if (!result.ok) return undefined
  const definition = result.payload.find(([name, , isValid]) => name === baseOf(os) && isValid)
  return definition?.[5].map(([name]) => name)
}

const baseOf = (os: string): string => os.split('+')[0] ?? os
