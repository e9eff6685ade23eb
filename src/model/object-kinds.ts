// The kinds of objects of a cluster, and Ganeti's names for those that have tags.
export const OBJECT_KINDS = ['cluster', 'instance', 'node', 'group', 'network'] as const
export type ObjectKind = (typeof OBJECT_KINDS)[number]

export const TAG_KINDS = {
  cluster: 'cluster',
  instance: 'instance',
  network: 'network',
  node: 'node',
  nodegroup: 'group',
} as const satisfies Readonly<Record<string, ObjectKind>>

export type TagKind = keyof typeof TAG_KINDS

export const tagKinds = Object.keys(TAG_KINDS) as readonly TagKind[]

export const isTagKind = (text: unknown): text is TagKind => typeof text === 'string' && Object.hasOwn(TAG_KINDS, text)
