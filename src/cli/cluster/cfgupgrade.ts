// cfgupgrade, a separate program as in Ganeti: converts the configuration while no daemons run.
import type { Call, Tool } from '../command'
import { confirm } from '../input/confirm'
import { flag, value } from '../input/option'
import { oForce, oVerbose } from '../input/options'
import { EXIT } from '../outcome'

const oDryRun = flag('--dry-run', 'dry_run', 'convert, but write nothing')
const oDowngrade = flag('--downgrade', 'downgrade', 'from 3.1 back to 3.0')
const oIgnoreHostname = flag('--ignore-hostname', 'ignore_hostname', 'also on another machine than the master')
const oNoVerify = flag('--no-verify', 'no_verify', 'do not check whether the objects of the result fit together')
// Ganeti's scripts pass this option.
const oAllShown = { ...oVerbose, ignored: '--verbose has no effect: all notes are shown' }
const oPath = value(
  '--path',
  'path',
  'string',
  'the directory with the configuration, if it is another one than this node has',
  {
    metavar: 'DIR',
  },
)

const oConfdir = value(
  '--confdir',
  'confdir',
  'string',
  'the directory with file-storage-paths, if it is another one than this node has; it is written where it is not there',
  { metavar: 'DIR' },
)

export const cfgupgradeTool: Tool = {
  name: 'cfgupgrade',
  commands: [
    {
      name: '',
      help: 'convert a configuration of Ganeti 2.7 to 3.0 to one of 3.1, or one of 3.1 to 3.0; on the master, whose daemons are stopped',
      usage: '[--dry-run] [--downgrade] [--path <dir>] [--confdir <dir>]',
      args: [],
      options: [oDryRun, oDowngrade, oForce, oIgnoreHostname, oNoVerify, oPath, oConfdir, oAllShown],
      examples: ['--dry-run', '--force', '--downgrade'],
      run: convert,
    },
  ],
}

async function convert(call: Call): Promise<number> {
  const { options, terminal, clock } = call
  const down = options.flag('downgrade')
  const dryRun = options.flag('dry_run')
  const question = `The configuration is going to be ${down ? 'DOWNGRADED to version 3.0' : 'upgraded to version 3.1'}. The present file is kept beside it. Continue?`
  if (!dryRun && !(await confirm(call, question))) return EXIT.failure
  const [{ convertConfig }, node] = await Promise.all([import('../../bootstrap/convert-config.js'), call.thisNode()])
  const { from, to, notices, problems, backup } = await convertConfig({
    ...{ paths: node.paths, disk: node.disk, random: node.random, lockFile: node.lockFile, clock, down, dryRun },
    directory: options.text('path'),
    lists: options.text('confdir'),
    verify: !options.flag('no_verify'),
    ignoreHostname: options.flag('ignore_hostname'),
  })
  for (const text of notices) terminal.out(`Note: ${text}`)
  for (const text of problems) terminal.err(`Error: ${text}`)
  if (from === to) terminal.out(`Nothing to do: the configuration is of version ${to}`)
  else if (backup === undefined)
    terminal.out(`The configuration of version ${from} can be converted to ${to}; nothing was written`)
  else terminal.out(`The configuration of version ${from} is one of ${to} now; the old one is ${backup}`)
  return problems.length === 0 ? EXIT.ok : EXIT.failure
}
