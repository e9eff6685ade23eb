// OP_TAGS_SEARCH: the objects whose tags match a pattern.
import { taggedObjects } from '../../config/tagged'
import { ECODE, OpPrereqError, QueryFilterParseError } from '../../model/errors'
import type { ObjectKind } from '../../model/object-kinds'
import { OpTagsSearch } from '../../opcodes/tags'
import { compileRegex } from '../../query/regex'
import { logicalUnit } from '../logical-unit'

export const tagsSearch = logicalUnit(OpTagsSearch, {
  async check(_ctx, op) {
    try {
      return compileRegex(op.pattern)
    } catch (error) {
      if (error instanceof QueryFilterParseError)
        throw new OpPrereqError(`Invalid search pattern '${op.pattern}': ${error.message}`, ECODE.INVAL)
      throw error
    }
  },
  async run(ctx, _op, pattern) {
    const config = await ctx.config.read({ instances: 'all', nodes: 'all', groups: 'all', networks: 'all' })
    return [...taggedObjects(config)].flatMap(({ kind, name, tags }) =>
      [...tags]
        .sort()
        .filter((tag) => pattern.test(tag))
        .map((tag): [string, string] => [PATHS[kind](name), tag]),
    )
  },
})

const PATHS = {
  cluster: () => '/cluster',
  instance: (name) => `/instances/${name}`,
  node: (name) => `/nodes/${name}`,
  group: (name) => `/nodegroup/${name}`,
  network: (name) => `/network/${name}`,
} as const satisfies Readonly<Record<ObjectKind, (name: string) => string>>
