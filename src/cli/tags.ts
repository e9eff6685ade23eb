import type { TagKind } from '../rpc/luxi/calls'
import { OpTagsDel, OpTagsSearch, OpTagsSet } from '../opcodes/tags'
import { type Call, EXIT, refusal } from './command'
import { readInput } from './input-file'
import { firstArgument, opcodeOf } from './submit'

export const listTags =
  (kind: TagKind) =>
  async (call: Call): Promise<number> => {
    const tags = await call.master.queryTags(kind, firstArgument(call))
    for (const tag of [...tags].sort()) call.terminal.out(tag)
    return EXIT.ok
  }

export const addTags = (kind: TagKind) => (call: Call) => changeTags(OpTagsSet, kind, call)
export const removeTags = (kind: TagKind) => (call: Call) => changeTags(OpTagsDel, kind, call)

async function changeTags(definition: typeof OpTagsSet | typeof OpTagsDel, kind: TagKind, call: Call): Promise<number> {
  const [name, words] = kind === 'cluster' ? [undefined, call.args] : [firstArgument(call), call.args.slice(1)]
  const source = call.options.text('tags_source')
  const tags = [...words, ...(source === undefined ? [] : await readTags(source))]
  if (tags.length === 0) throw refusal(`No tags to be ${definition === OpTagsSet ? 'added' : 'removed'}`)
  await call.jobs.run(opcodeOf(definition, { kind, tags, name }))
  return EXIT.ok
}

/** One tag on each line; `-` is the standard input. */
async function readTags(source: string): Promise<string[]> {
  const text = await readInput(source)
  return text.split('\n').flatMap((line) => line.trim() || [])
}

export async function searchTags(call: Call): Promise<number> {
  const found = await call.jobs.run(opcodeOf(OpTagsSearch, { pattern: firstArgument(call) }))
  if (!Array.isArray(found) || found.length === 0) return EXIT.failure
  const lines = (found as unknown[]).map((row) => (Array.isArray(row) ? row.map(String).join(' ') : ''))
  for (const line of lines.sort()) call.terminal.out(line)
  return EXIT.ok
}
