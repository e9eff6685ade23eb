// A command line as it was typed, to the command that does it: the program's name or the first word chooses the tool.
import { type Clock, systemClock } from '../lib/clock'
import { runCommand as runProcess } from '../lib/run-command'
import { RELEASE_VERSION } from '../model/constants/versions'
import type { Master } from '../rpc/luxi/calls'
import { allocationTool } from './allocation'
import { backupTool } from './backup'
import { clusterTool } from './cluster'
import { type Call, type Command, EXIT, type Terminal, type Tool, UsageError } from './command'
import { debugTool } from './debug'
import { describeError } from './errors'
import { filterTool } from './filter'
import { groupTool } from './group'
import { commandHelp, commandUsage, toolUsage } from './help'
import { instanceTool } from './instance'
import { jobTool } from './job'
import { Jobs } from './jobs'
import { networkTool } from './network'
import { nodeTool } from './node'
import { osTool } from './os'
import { parseCommandLine } from './parse'
import { storageTool } from './storage'
import { tokenTool } from './token'

export const TOOLS: readonly Tool[] = [
  allocationTool,
  backupTool,
  clusterTool,
  debugTool,
  filterTool,
  groupTool,
  instanceTool,
  jobTool,
  networkTool,
  nodeTool,
  osTool,
  storageTool,
  tokenTool,
]

export interface Environment {
  readonly terminal: Terminal
  /** Called only by commands that need the cluster. */
  connect(): Pick<Call, 'master' | 'nodesRoot' | 'prepareNode'>
  /** Called only by commands that work on the node itself. */
  readonly thisNode: Call['thisNode']
  readonly newNode: Call['newNode']
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly clock?: Clock
  readonly run?: typeof runProcess
}

/** Runs `program words...`; the exit code. `gnt instance list` is `gnt-instance list`. */
export async function runProgram(program: string, words: readonly string[], environment: Environment): Promise<number> {
  const { terminal } = environment
  const byName = TOOLS.find(({ name }) => name === program)
  const [object, ...rest] = words
  const tool = byName ?? TOOLS.find(({ name }) => name === `gnt-${object ?? ''}`)
  if (tool !== undefined) return runTool(tool, byName === undefined ? rest : words, environment)
  if (object === '--version') {
    terminal.out(`gnt (gantry ${RELEASE_VERSION}) ${RELEASE_VERSION}`)
    return EXIT.ok
  }
  const asksForHelp = object === '--help' || object === '-h'
  if (object !== undefined && !asksForHelp) terminal.err(`gnt: there is no object '${object}'`)
  const objects = TOOLS.map(({ name }) => name.replace('gnt-', ''))
  terminal.out('Usage: gnt [--node NAME] {object} {command} [options...] [argument...]')
  terminal.out('gnt <object> shows the commands of an object, gnt <object> <command> --help its options')
  terminal.out('--node runs the command as on that virtual node of the embedded cluster')
  terminal.out('')
  terminal.out(`Objects: ${objects.join(', ')}`)
  return asksForHelp ? EXIT.ok : EXIT.failure
}

async function runTool(tool: Tool, words: readonly string[], environment: Environment): Promise<number> {
  const { terminal, variables } = environment
  const [word, ...given] = words
  if (word === '--version') {
    terminal.out(`${tool.name} (ganeti ${RELEASE_VERSION}) ${RELEASE_VERSION}`)
    return EXIT.ok
  }
  const command = tool.commands.find(({ name, aliases = [] }) => name === word || aliases.includes(word ?? ''))
  if (command === undefined) {
    for (const line of toolUsage(tool)) terminal.out(line)
    return word === '--help' ? EXIT.ok : EXIT.failure
  }
  // GNT_INSTANCE_LIST holds options that are put in front of what was typed.
  const defaults = variables[`${tool.name}_${command.name}`.replaceAll('-', '_').toUpperCase()]
  return runCommand(
    tool,
    command,
    [...(defaults?.split(/\s+/).filter((part) => part !== '') ?? []), ...given],
    environment,
  )
}

async function runCommand(
  tool: Tool,
  command: Command,
  words: readonly string[],
  { terminal, connect, thisNode, newNode, clock = systemClock, run = runProcess }: Environment,
): Promise<number> {
  try {
    const { options, args, help } = parseCommandLine(command, words, terminal)
    if (help) {
      for (const line of commandHelp(tool.name, command)) terminal.out(line)
      return EXIT.ok
    }
    let connection: ReturnType<typeof connect> | undefined
    const master = lazyMaster(() => (connection ??= connect()).master)
    const source = { tool: tool.name, command: command.name }
    return await command.run({
      ...source,
      options,
      args,
      master,
      jobs: new Jobs(master, terminal, clock, source, options),
      terminal,
      clock,
      run,
      thisNode,
      newNode,
      get nodesRoot() {
        return (connection ??= connect()).nodesRoot
      },
      get prepareNode() {
        return (connection ??= connect()).prepareNode
      },
    })
  } catch (error) {
    if (error instanceof UsageError) {
      for (const line of commandUsage(tool.name, command)) terminal.err(line)
      terminal.err(`${tool.name}: error: ${error.message}`)
      return EXIT.usage
    }
    const { lines, exitCode } = describeError(error)
    for (const line of lines) terminal.err(line)
    return exitCode
  }
}

/** The connection is made at the first call, so that help and mistakes need no cluster. */
function lazyMaster(open: () => Master): Master {
  return new Proxy({} as Master, {
    get: (_, name) => {
      const master = open()
      const method: unknown = Reflect.get(master, name)
      return typeof method === 'function' ? (method.bind(master) as unknown) : method
    },
  })
}
