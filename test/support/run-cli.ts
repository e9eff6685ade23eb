// Runs commands of the command line inside the test, with a terminal that keeps their output.
import { type Clock, systemClock } from '../../src/lib/clock'
import { systemFiles } from '../../src/lib/files'
import { type Run, runCommand } from '../../src/lib/programs/run-command'
import type { NewNode } from '../../src/cli/command'
import { Picture } from '../../src/cli/output/picture'
import type { Tool } from '../../src/cli/command'
import type { Environment } from '../../src/cli/environment'
import { runProgram } from '../../src/cli/program'
import { runTool } from '../../src/cli/run-tool'
import type { Master } from '../../src/rpc/luxi/master'

export interface CliOptions {
  /** The answers to questions, in order. Without them, nobody is at the terminal. */
  answers?: string[]
  nodesRoot?: string
  /** Plays the programs that the command starts. */
  run?: Run
  clock?: Clock
  variables?: Record<string, string>
  newNode?: NewNode
  /** The tool that runs the words, for a test that brings its own. */
  tool?: Tool
  /** Interrupts a command that runs until then. */
  interrupt?: AbortSignal
}

/** Runs one command line against a master and returns all that it showed. */
export async function runCli(master: Master, words: readonly string[], options: CliOptions = {}) {
  const result = {
    exit: 0,
    stdout: '',
    stderr: '',
    questions: [] as string[],
    /** For each question, the option that would have answered it in advance. */
    answeredBy: [] as string[],
    /** For each question, the place in `src/cli` that asked it. */
    askedAt: [] as string[],
    handed: [] as (readonly string[])[],
    followed: [] as (number | undefined)[],
  }
  const answers = [...(options.answers ?? [])]
  const environment: Environment = {
    variables: options.variables ?? {},
    connect: () => ({ master, nodesRoot: options.nodesRoot, prepareNode: undefined }),
    thisNode: () => Promise.reject(new Error('no node')),
    newNode: () => (options.newNode ? Promise.resolve(options.newNode) : Promise.reject(new Error('no node'))),
    machine: () => ({ files: systemFiles, run: options.run ?? runCommand }),
    clock: options.clock ?? systemClock,
    terminal: {
      out: (line) => void (result.stdout += `${line}\n`),
      err: (line) => void (result.stderr += `${line}\n`),
      following: (job) => void result.followed.push(job),
      ask: async (question, _choices, answeredBy) => {
        result.questions.push(question)
        result.answeredBy.push(answeredBy)
        result.askedAt.push(siteOf(new Error().stack ?? ''))
        return answers.shift()
      },
      live: async () => ({
        picture: new Picture({
          ...{ isTerminal: false, size: () => undefined },
          write: (text) => void (result.stdout += text),
        }),
        interrupted: options.interrupt ?? new AbortController().signal,
      }),
      hand: async (command) => {
        result.handed.push(command)
        return 7
      },
    },
  }
  const [program = '', ...args] = words
  result.exit = await (options.tool
    ? runTool(options.tool, words, environment)
    : runProgram(program, args, environment))
  return result
}

/** The first place in a stack that belongs to a command, not to the code that all commands use for questions. */
function siteOf(stack: string): string {
  const places = [...stack.matchAll(/src\/cli\/([\w/-]+\.ts):(\d+):\d+/g)].map(([, file, line]) => `${file}:${line}`)
  return places.find((place) => !place.startsWith('input/confirm.ts')) ?? 'nowhere'
}
