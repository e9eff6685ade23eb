// Maps a typed command line to its command: the program's name or the first word chooses the tool.
import { RELEASE_VERSION } from '../model/constants/versions'
import type { Tool } from './command'
import type { Environment } from './environment'

/**
 * The tools by their kind of object. Only the needed one is loaded, because loading takes most of a short command's
 * time.
 */
export const TOOLS: Readonly<Record<string, { readonly about: string; load(): Promise<Tool> }>> = {
  allocation: {
    about: 'what fits where, and what a move or a loss would do',
    load: async () => (await import('./allocation/tool.js')).allocationTool,
  },
  backup: {
    about: 'exports of instances',
    load: async () => (await import('./backup/tool.js')).backupTool,
  },
  cluster: {
    about: 'the cluster as a whole: its settings, checks, master and keys',
    load: async () => (await import('./cluster/tool.js')).clusterTool,
  },
  debug: {
    about: 'tools for developers',
    load: async () => (await import('./debug/tool.js')).debugTool,
  },
  filter: {
    about: 'rules that hold up, limit or refuse jobs',
    load: async () => (await import('./filter/tool.js')).filterTool,
  },
  group: {
    about: 'groups of nodes',
    load: async () => (await import('./group/tool.js')).groupTool,
  },
  instance: {
    about: 'virtual machines',
    load: async () => (await import('./instance/tool.js')).instanceTool,
  },
  job: {
    about: 'what runs, waits or has ended',
    load: async () => (await import('./job/tool.js')).jobTool,
  },
  network: {
    about: 'IP networks with pools of addresses',
    load: async () => (await import('./network/tool.js')).networkTool,
  },
  node: {
    about: 'the machines that instances run on',
    load: async () => (await import('./node/tool.js')).nodeTool,
  },
  os: {
    about: 'operating systems that can be installed',
    load: async () => (await import('./os/tool.js')).osTool,
  },
  storage: {
    about: 'external storage providers',
    load: async () => (await import('./storage/tool.js')).storageTool,
  },
  token: {
    about: 'access for programs to the remote API',
    load: async () => (await import('./token/tool.js')).tokenTool,
  },
}

/** With this option a shell asks for completions; the words after it end with the one at the cursor. */
const COMPLETE = '--complete-words'

/** Programs with a single command. */
const ALONE: Readonly<Record<string, () => Promise<Tool>>> = {
  cfgupgrade: async () => (await import('./cluster/cfgupgrade.js')).cfgupgradeTool,
  'gantry-adopt': async () => (await import('./cluster/adopt.js')).adoptTool,
  'move-instance': async () => (await import('./move/tool.js')).moveTool(),
}

/** Runs `program words...` and returns the exit code. `gnt instance list` is `gnt-instance list`. */
export async function runProgram(program: string, words: readonly string[], environment: Environment): Promise<number> {
  const { terminal } = environment
  if (words[0] === COMPLETE) return completeWords(program, words.slice(1), environment)
  const alone = Object.hasOwn(ALONE, program) ? ALONE[program] : undefined
  if (alone !== undefined) {
    const [tool, { runTool }] = await Promise.all([alone(), import('./run-tool.js')])
    return runTool(tool, words[0] === '--version' ? words : ['', ...words], environment)
  }
  const [object, ...rest] = words
  const named = /^gnt-(.*)/.exec(program)?.[1]
  const found = toolOf(named ?? object)
  if (found !== undefined) {
    const [tool, { runTool }] = await Promise.all([found.load(), import('./run-tool.js')])
    return runTool(tool, named === undefined ? rest : words, { ...environment, plain: named === undefined })
  }
  if (object === '--version') {
    terminal.out(`gnt (gantry ${RELEASE_VERSION}) ${RELEASE_VERSION}`)
    return 0
  }
  const asksForHelp = object === '--help' || object === '-h'
  if (object !== undefined && !asksForHelp) {
    const { suggestion } = await import('./input/suggest.js')
    terminal.err(`gnt: there is no object '${object}'.${suggestion(object, Object.keys(TOOLS))}`)
    terminal.err('gnt --help lists the objects.')
    return 1
  }
  terminal.out('Usage: gnt [--node NAME] {object} {command} [options...] [argument...]')
  terminal.out('gnt <object> shows the commands of an object, gnt <object> <command> --help its options')
  terminal.out('--node runs the command as on that virtual node of the embedded cluster')
  terminal.out('')
  terminal.out('Objects:')
  for (const [name, { about }] of Object.entries(TOOLS)) terminal.out(` ${name.padEnd(10)} - ${about}`)
  return asksForHelp ? 0 : 1
}

/** Prints completions of the last word. */
async function completeWords(program: string, words: readonly string[], environment: Environment): Promise<number> {
  const { terminal, connect } = environment
  const { completions } = await import('./completion.js')
  const named = /^gnt-(.*)/.exec(program)?.[1]
  const [object = '', ...rest] = words
  const isObject = program === 'gnt' && words.length <= 1
  const alone = Object.hasOwn(ALONE, program) ? ALONE[program] : undefined
  const tool = isObject ? undefined : await (alone ?? toolOf(named ?? object)?.load)?.()
  const found = isObject
    ? Object.keys(TOOLS).filter((name) => name.startsWith(object))
    : tool && (await completions(tool, program === 'gnt' ? rest : words, () => connect().master))
  for (const line of found ?? []) terminal.out(line)
  return 0
}

const toolOf = (object: string | undefined) =>
  object !== undefined && Object.hasOwn(TOOLS, object) ? TOOLS[object] : undefined
