// OP_TAGS_SEARCH: the objects whose tags match a pattern.
import { recordValues } from '../../config/records'
import { ECODE, OpPrereqError, QueryFilterParseError } from '../../model/errors'
import type { ConfigData } from '../../model/config'
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
    return [...tagged(config)].flatMap(([path, tags]) =>
      [...tags]
        .sort()
        .filter((tag) => pattern.test(tag))
        .map((tag): [string, string] => [path, tag]),
    )
  },
})

function* tagged(config: ConfigData): Iterable<[path: string, tags: readonly string[]]> {
  yield ['/cluster', config.cluster.tags]
  for (const instance of recordValues(config.instances)) yield [`/instances/${instance.name}`, instance.tags]
  for (const node of recordValues(config.nodes)) yield [`/nodes/${node.name}`, node.tags]
  for (const group of recordValues(config.nodegroups)) yield [`/nodegroup/${group.name}`, group.tags]
  for (const network of recordValues(config.networks)) yield [`/network/${network.name}`, network.tags]
}
