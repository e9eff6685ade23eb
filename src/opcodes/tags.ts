// Opcodes on the tags of any object.
import { listOf, tuple } from '../lib/shapes/containers'
import { nonEmpty, none } from '../lib/shapes/leaves'
import { pTagKind, pTagList, pTagObject, pUseLocking } from './common'
import { opcode, req } from './opcode'
import { tagKind } from './types'

/** As in luxid, job summaries contain the constructor's name, not the object's. */
const TAG_KIND_NAMES = {
  cluster: 'TagKindCluster',
  instance: 'TagKindInstance',
  network: 'TagKindNetwork',
  node: 'TagKindNode',
  nodegroup: 'TagKindGroup',
}

export const OpTagsGet = opcode('OP_TAGS_GET', {
  doc: 'Lists tags of an object.',
  permission: 'tags.get',
  summary: ({ kind }) => TAG_KIND_NAMES[tagKind.parse(kind)],
  result: listOf(nonEmpty),
  params: {
    kind: pTagKind,
    use_locking: pUseLocking,
    name: pTagObject,
  },
})

export const OpTagsSearch = opcode('OP_TAGS_SEARCH', {
  doc: 'Regex search over all tags; rows of [object path, tag].',
  permission: 'tags.get',
  summary: 'pattern',
  result: listOf(tuple(nonEmpty, nonEmpty)),
  params: {
    pattern: req(nonEmpty, 'Regular expression'),
  },
})

export const OpTagsSet = opcode('OP_TAGS_SET', {
  doc: 'Adds tags.',
  permission: 'tags.set',
  result: none,
  params: {
    kind: pTagKind,
    tags: pTagList,
    name: pTagObject,
  },
})

export const OpTagsDel = opcode('OP_TAGS_DEL', {
  doc: 'Removes tags.',
  permission: 'tags.delete',
  result: none,
  params: {
    kind: pTagKind,
    tags: pTagList,
    name: pTagObject,
  },
})
