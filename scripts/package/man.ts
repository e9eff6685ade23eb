// Makes the manual pages from the tables: for every command line tool, daemon and allocation program.
import { runHtool } from '../../src/cli/htools/run'
import { systemClock } from '../../src/lib/clock'
import { systemRandom } from '../../src/lib/random'
import type { Command, Tool } from '../../src/cli/command'
import type { Option } from '../../src/cli/input/option'
import { optionsOf } from '../../src/cli/input/parse'
import { TOOLS } from '../../src/cli/program'
import { adoptTool } from '../../src/cli/cluster/adopt'
import { cfgupgradeTool } from '../../src/cli/cluster/cfgupgrade'
import { moveTool } from '../../src/cli/move/tool'
import { readCleanerCall, readWatcherCall, EndsNow } from '../../src/cli/watcher/programs'
import { RELEASE_VERSION } from '../../src/model/constants/versions'
import { helperHelp } from '../../src/roles/help'
import { HELPERS, NODE_PROGRAMS } from '../../src/roles/helpers'
import { optionsOf as optionsOfRole } from '../../src/roles/options'
import type { Role } from '../../src/roles/role'
import { HTOOLS } from './programs'
import { argumentsOf, packagedRoles } from './units'

/** The texts by file name, such as gnt-instance.8. */
export async function manualPages(date: string): Promise<Record<string, string>> {
  const tools = await Promise.all(Object.values(TOOLS).map(({ load }) => load()))
  const helps = await Promise.all(HTOOLS.map(async (name) => [name, await allocationHelp(name)] as const))
  const page = (name: string, section: number, about: string, parts: readonly string[]) =>
    [
      `.\\" Made from the tables of Gantry by "npm run package".`,
      `.TH ${name.toUpperCase()} ${section} ${date} "Gantry (Ganeti ${RELEASE_VERSION})" "Ganeti"`,
      '.SH NAME',
      `${text(name)} \\- ${text(about)}`,
      ...parts,
      '',
    ].join('\n')
  const abouts = new Map(Object.entries(TOOLS).map(([object, { about }]) => [`gnt-${object}`, about]))
  return {
    'gnt.8': page('gnt', 8, 'the command line of a cluster', overview()),
    ...Object.fromEntries(
      [...tools, moveTool(), adoptTool, cfgupgradeTool].map((tool) => [
        `${tool.name}.8`,
        page(tool.name, 8, abouts.get(tool.name) ?? tool.commands[0]?.help ?? tool.name, ofTool(tool)),
      ]),
    ),
    ...Object.fromEntries(
      packagedRoles.map((role) => [`${role.program}.8`, page(role.program, 8, role.text, ofRole(role))]),
    ),
    ...Object.fromEntries(
      Object.entries({ ...HELPERS, ...NODE_PROGRAMS }).map(([name, helper]) => [
        `${name}.8`,
        page(name, 8, helper.text, displayed(helperHelp(name))),
      ]),
    ),
    'gantryd.8': page('gantryd', 8, 'plays the roles of all daemons', ofGantryd()),
    'ganeti-watcher.8': page(
      'ganeti-watcher',
      8,
      'starts what should run and does not',
      displayed(helpOf(readWatcherCall)),
    ),
    'ganeti-cleaner.8': page('ganeti-cleaner', 8, 'removes old jobs and files', displayed(helpOf(readCleanerCall))),
    ...Object.fromEntries(
      helps.map(([name, help]) => [
        `${name}.1`,
        page(name, 1, 'plans where instances of a cluster go', displayed(help)),
      ]),
    ),
  }
}

/** Escapes a text so that roff prints it unchanged: no line begins with a request, and dashes stay dashes. */
const text = (words: string): string =>
  words
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1')

const heading = (name: string): string => `.SH ${name.toUpperCase()}`
const bold = (words: string): string => `\\fB${text(words)}\\fR`
/** Prints lines unchanged. */
const shownText = (words: string): string[] => ['.nf', text(words.trimEnd()), '.fi']
const displayed = (words: string): string[] => [heading('description'), ...shownText(words)]
const entry = (what: string, lines: readonly string[]): string[] => ['.TP', what, ...lines]

function overview(): string[] {
  return [
    heading('synopsis'),
    text('gnt [--node NAME] OBJECT COMMAND [options...] [argument...]'),
    heading('description'),
    text('Each object has a manual page of its own, and "gnt OBJECT COMMAND --help" lists the options of a command.'),
    ...Object.entries(TOOLS).flatMap(([object, { about }]) => entry(bold(`gnt-${object}(8)`), [text(about)])),
    heading('files'),
    text('GNT_INSTANCE_LIST and variables like it hold options that are put in front of those of a command.'),
  ]
}

function ofTool(tool: Tool): string[] {
  const commands = [...tool.commands].sort((a, b) => (a.name < b.name ? -1 : 1))
  return [
    heading('synopsis'),
    text(
      `${tool.name} ${tool.commands[0]?.name === '' ? tool.commands[0].usage : '{command} [options...] [argument...]'}`,
    ),
    heading('commands'),
    ...commands.flatMap((command) => ofCommand(tool.name, command)),
    heading('see also'),
    text('gnt(8), gantryd(8)'),
  ]
}

function ofCommand(tool: string, command: Command): string[] {
  const { name, aliases = [], help, usage, examples = [] } = command
  return [
    `.SS "${text(name === '' ? tool : name)}"`,
    text(`${tool} ${name} ${usage}`.trim()),
    '.PP',
    text(`${help.charAt(0).toUpperCase()}${help.slice(1)}.`),
    ...(aliases.length > 0 ? ['.PP', text(`Other names: ${aliases.join(', ')}.`)] : []),
    ...optionsOf(command).flatMap(ofOption),
    ...(examples.length > 0
      ? ['.PP', text('Examples:'), ...shownText(examples.map((words) => `${tool} ${name} ${words}`).join('\n'))]
      : []),
  ]
}

function ofOption({ long, short, type, metavar, dest, help, choices }: Option): string[] {
  const value = type === 'flag' || type === 'count' ? '' : `=${metavar ?? dest.toUpperCase()}`
  const names = [...(short === undefined ? [] : [short]), ...long.map((name) => `${name}${value}`)]
  return entry(bold(names.join(', ')), [text(choices === undefined ? help : `${help} (${choices.join(', ')})`)])
}

function ofRole(role: Role): string[] {
  const { user, group, port, log, exits = {}, program, name } = role
  return [
    heading('synopsis'),
    text(`${program} [options...]`),
    heading('description'),
    text(
      `${role.text.charAt(0).toUpperCase()}${role.text.slice(1)}. It runs as ${user}:${group}${port === undefined ? '' : `, on port ${port.number}/${port.protocol}`}.`,
    ),
    text(`systemd starts it as ${program}.service, with the arguments of ${argumentsOf(name)} in /etc/default/ganeti.`),
    heading('options'),
    ...optionsOfRole(role).flatMap(([option, { text: about, short, value }]) => {
      const names = `${short === undefined ? '' : `-${short}, `}--${option}${value === undefined ? '' : `=${value}`}`
      return entry(bold(names), [text(about)])
    }),
    heading('exit status'),
    ...[['0', 'it was stopped'], ['1', 'it cannot start; its log says why'], ...Object.entries(exits)].flatMap(
      ([code = '', about = '']) => entry(bold(code), [text(about)]),
    ),
    heading('files'),
    ...entry(text(`/var/log/ganeti/${log}.log`), [text('its log, which the journal has, too')]),
    ...entry(text('/etc/default/ganeti'), [text('its arguments')]),
    heading('see also'),
    text('gantryd(8), gnt(8)'),
  ]
}

function ofGantryd(): string[] {
  return [
    heading('synopsis'),
    text('gantryd ROLE [options...]'),
    heading('description'),
    text('Each role is also a program of its own, with a manual page:'),
    ...packagedRoles.flatMap(({ program, text: about }) => entry(bold(`${program}(8)`), [text(about)])),
    heading('environment'),
    ...entry(bold('GANTRY_LOG_LEVEL'), [text('debug, info, warn or error')]),
  ]
}

/** The text that a program prints for --help. */
function helpOf(read: (args: readonly string[]) => unknown): string {
  try {
    read(['--help'])
    return ''
  } catch (error) {
    if (error instanceof EndsNow) return error.text
    throw error
  }
}

async function allocationHelp(name: string): Promise<string> {
  let said = ''
  const nothing = (): never => {
    throw new Error(`${name} --help wants to know something`)
  }
  const code = await runHtool(name, ['--help'], {
    ...{
      clock: systemClock,
      random: systemRandom,
      read: nothing,
      write: nothing,
      connect: nothing,
      interruption: nothing,
    },
    out: (words) => void (said += words),
    err: (words) => void (said += words),
  })
  if (code !== 0) throw new Error(`${name} --help ended with another code than 0`)
  return said
}
