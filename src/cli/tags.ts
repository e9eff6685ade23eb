// list-tags, add-tags, remove-tags and search-tags, which several tools share.
import type { Files } from '../lib/files'
import type { TagKind } from '../model/object-kinds'
import { OpTagsDel, OpTagsSearch, OpTagsSet } from '../opcodes/tags'
import type { Call, Command } from './command'
import { EXIT, refusal } from './outcome'
import { readInput } from './input/input-file'
import { firstArgument, opcodeOf } from './submit/submit'

export const listTags = (kind: TagKind): Pick<Command, 'run' | 'data'> => {
  const sorted = async (call: Call) => [...(await call.master.queryTags(kind, firstArgument(call)))].sort()
  return {
    data: sorted,
    async run(call) {
      for (const tag of await sorted(call)) call.terminal.out(tag)
      return EXIT.ok
    },
  }
}

export const addTags = (kind: TagKind) => (call: Call) => changeTags(OpTagsSet, kind, call)
export const removeTags = (kind: TagKind) => (call: Call) => changeTags(OpTagsDel, kind, call)

async function changeTags(definition: typeof OpTagsSet | typeof OpTagsDel, kind: TagKind, call: Call): Promise<number> {
  const [name, words] = kind === 'cluster' ? [undefined, call.args] : [firstArgument(call), call.args.slice(1)]
  const source = call.options.text('tags_source')
  const tags = [...words, ...(source === undefined ? [] : await readTags(call.files, source))]
  if (tags.length === 0) throw refusal(`No tags to be ${definition === OpTagsSet ? 'added' : 'removed'}`)
  await call.jobs.run(opcodeOf(definition, { kind, tags, name }))
  return EXIT.ok
}

/** One tag on each line; `-` is the standard input. */
async function readTags(files: Files, source: string): Promise<string[]> {
  const text = await readInput(files, source)
  return text.split('\n').flatMap((line) => line.trim() || [])
}

export const searchTags: Pick<Command, 'run' | 'data'> = {
  async run(call) {
    const found = await search(call)
    for (const row of found.map((words) => words.join(' ')).sort()) call.terminal.out(row)
    return found.length === 0 ? EXIT.failure : EXIT.ok
  },
  data: async (call) => (await search(call)).map(([path, tag]) => ({ path, tag })),
}

/** `[path, tag]` */
async function search(call: Call): Promise<string[][]> {
  const found = await call.jobs.run(opcodeOf(OpTagsSearch, { pattern: firstArgument(call) }))
  return (Array.isArray(found) ? (found as unknown[]) : []).map((row) => (Array.isArray(row) ? row.map(String) : []))
}
