// Runs a tool's command: parses its words, runs it, and prints errors to the terminal.
import { RELEASE_VERSION } from '../model/constants/versions'
import type { Master } from '../rpc/luxi/master'
import type { Call, Command, Tool } from './command'
import { EXIT, UsageError } from './outcome'
import { dataFormat, printData } from './output/data'
import { describeError } from './output/errors'
import { commandHelp, commandUsage, toolUsage } from './output/help'
import { Jobs } from './submit/jobs'
import { parseCommandLine } from './input/parse'
import type { Environment } from './environment'
import { suggestion } from './input/suggest'

export async function runTool(tool: Tool, words: readonly string[], environment: Environment): Promise<number> {
  const { terminal, variables } = environment
  const [word, ...input] = words
  if (word === '--version') {
    terminal.out(`${tool.name} (ganeti ${RELEASE_VERSION}) ${RELEASE_VERSION}`)
    return EXIT.ok
  }
  const command = tool.commands.find(({ name, aliases = [] }) => name === word || aliases.includes(word ?? ''))
  if (command === undefined) {
    const names = tool.commands.flatMap(({ name, aliases = [] }) => [name, ...aliases])
    const asksForHelp = word === '--help' || word === '-h'
    if (word === undefined || asksForHelp) {
      for (const line of toolUsage(tool)) terminal.out(line)
      return asksForHelp ? EXIT.ok : EXIT.failure
    }
    terminal.err(`${tool.name}: there is no command '${word}'.${suggestion(word, names)}`)
    terminal.err(`${environment.plain ? tool.name.replace('-', ' ') : tool.name} --help lists the commands.`)
    return EXIT.failure
  }
  // GNT_INSTANCE_LIST has options that are put before the typed ones.
  const defaults = variables[`${tool.name}_${command.name}`.replaceAll('-', '_').toUpperCase()]
  return runCommand(
    tool,
    command,
    [...(defaults?.split(/\s+/).filter((part) => part !== '') ?? []), ...input],
    environment,
  )
}

async function runCommand(
  tool: Tool,
  command: Command,
  words: readonly string[],
  { terminal, connect, thisNode, newNode, clock, machine, plain = false }: Environment,
): Promise<number> {
  try {
    const { options, args, help } = parseCommandLine(command, words, terminal)
    if (help) {
      for (const line of commandHelp(tool.name, command)) terminal.out(line)
      return EXIT.ok
    }
    let connection: ReturnType<typeof connect> | undefined
    const master = lazyMaster(() => (connection ??= connect()).master)
    const source = { tool: tool.name, command: command.name, known: command.options, plain }
    const format = dataFormat(options)
    // Where a program reads data, what jobs say goes to stderr.
    const saidByJobs = format === undefined ? terminal : { ...terminal, out: (line: string) => terminal.err(line) }
    const call: Call = {
      ...{ tool: tool.name, command: command.name, plain },
      options,
      args,
      master,
      jobs: new Jobs(master, saidByJobs, clock, source, options),
      terminal,
      clock,
      thisNode,
      newNode,
      get files() {
        return machine().files
      },
      get run() {
        return machine().run
      },
      get nodesRoot() {
        return (connection ??= connect()).nodesRoot
      },
      get prepareNode() {
        return (connection ??= connect()).prepareNode
      },
    }
    if (command.data === undefined || format === undefined) return await command.run(call)
    const data = await command.data(call)
    await printData(call, data, format)
    return (command.isGood?.(data) ?? true) ? EXIT.ok : EXIT.failure
  } catch (error) {
    if (error instanceof UsageError) {
      for (const line of commandUsage(tool.name, command)) terminal.err(line)
      terminal.err(`${tool.name}: error: ${error.message}`)
      return EXIT.usage
    }
    const { lines, exitCode } = describeError(error, plain)
    for (const line of lines) terminal.err(line)
    return exitCode
  }
}

/** Connects at the first call, so that help and mistakes need no cluster. */
function lazyMaster(open: () => Master): Master {
  return new Proxy({} as Master, {
    get: (_, name) => {
      const master = open()
      const method: unknown = Reflect.get(master, name)
      return typeof method === 'function' ? (method.bind(master) as unknown) : method
    },
  })
}
