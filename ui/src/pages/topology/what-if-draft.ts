// A what-if question that the user is putting together.
import type { components } from '../../api/schema'
import { parseSize } from '../../format/size'
import type { Values } from '../../forms/schema'

type Request = components['schemas']['WhatIfRequest']

export interface WhatIfDraft {
  readonly dying: readonly string[]
  /** All nodes with this tag die too; empty for none. */
  readonly tag: string
  /** The form's values for arriving instances. */
  readonly arriving: Values
}

/** Undefined while the question is empty. */
export function whatIfRequest({ dying, tag, arriving }: WhatIfDraft): Request | undefined {
  const count = Number(arriving['count'] || 0)
  if (dying.length === 0 && tag === '' && count < 1) return undefined
  return {
    ...(dying.length > 0 ? { nodes: [...dying] } : {}),
    ...(tag === '' ? {} : { node_tag: tag }),
    ...(count < 1 ? {} : { instances: [{ ...arrivalOf(arriving), count }] }),
  }
}

function arrivalOf(arriving: Values) {
  const text = (name: string) => String(arriving[name] ?? '').trim()
  const disk = parseSize(text('disk'))
  const disk_template = text('disk_template')
  const disks = disk_template === 'diskless' || disk === undefined ? {} : { disks_mib: [disk] }
  const group = text('group')
  return {
    spec: {
      disk_template,
      memory_mib: parseSize(text('memory')) ?? 1,
      vcpus: Number(arriving['vcpus'] || 1),
      ...disks,
    },
    ...(group === '' ? {} : { group }),
  }
}

interface Tagged {
  readonly name: string
  readonly tags?: readonly string[] | null
}

/** The names of all nodes that die: chosen ones and those with the tag. */
export function dyingNames({ dying, tag }: WhatIfDraft, nodes: readonly Tagged[]): string[] {
  const tagged = tag === '' ? [] : nodes.filter(({ tags }) => tags?.includes(tag)).map(({ name }) => name)
  return [...new Set([...dying, ...tagged])]
}

/** Whether two questions have the same answer. */
export const isSameQuestion = (one: Request | undefined, other: Request | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other)
