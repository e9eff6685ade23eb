// Our daemons and the watcher take every option of Ganeti's, in every spelling that Ganeti takes.
import { EndsNow, readCleanerCall, readWatcherCall } from '../../../src/cli/watcher/programs'
import { completions, optionList } from '../../../src/roles/completion'
import { readOptions } from '../../../src/roles/options'
import { ROLES } from '../../../src/roles/table'
import listed from '../../data/daemon-options.json'

interface GanetiOption {
  readonly short: string | undefined
  readonly long: string
  /** Values to give it; none for a flag. */
  readonly values: readonly string[]
}

const { haskell_daemons_extra: EXTRA, 'ganeti-cleaner': CLEANER, ...PROGRAMS } = listed
/** They are Python programs, where the others have the options of all in Haskell. */
const IN_PYTHON = ['ganeti-noded', 'ganeti-rapi', 'ganeti-watcher']
const VALUES: Readonly<Record<string, string>> = {
  ...{ N: '7', ADDR: '192.0.2.1', IF: 'lo', FILE: '/file', GROUP: 'uuid', IP: '192.0.2.1', SECONDS: '60' },
}

function optionFrom(text: string): GanetiOption {
  const [, short, long = '', value] = /^(?:(-\w),)?(--[\w-]+)(?:=([\w|]+)(?:\(.*\))?)?$/.exec(text) ?? []
  const values = value?.split('|').map((one) => VALUES[one] ?? one)
  return { short, long, values: values ?? [] }
}

const optionsOf = (program: string, texts: readonly string[]): GanetiOption[] =>
  [...texts, ...(IN_PYTHON.includes(program) ? ['-h,--help', '--version'] : EXTRA)].map(optionFrom)

/** What a program makes of its arguments, or says. */
function read(program: string, args: readonly string[]): unknown {
  const role = ROLES.find((one) => one.program === program)
  try {
    if (role !== undefined) return readOptions(role, args)
    return readWatcherCall(args)
  } catch (error) {
    if (error instanceof EndsNow) return { text: error.text, exitCode: error.exitCode }
    return { text: String(error), exitCode: 2 }
  }
}

/** Beginnings that are clear to Ganeti. */
function abbreviations(long: string, all: readonly GanetiOption[]): string[] {
  const beginnings = Array.from({ length: long.length - 3 }, (_, at) => long.slice(0, at + 3))
  return beginnings.filter((one) => all.filter((other) => other.long.startsWith(one)).length === 1)
}

/** Ganeti's remote API has no other option that begins with "no". */
const AMBIGUOUS_HERE = ['ganeti-rapi --no', 'ganeti-rapi --no-', 'ganeti-rapi --n']

test.each(Object.entries(PROGRAMS))('%s', (program, texts) => {
  const options = optionsOf(program, texts)
  const defaults = read(program, [])
  for (const { short, long, values } of options.filter((one) => `${program} ${one.long}` !== 'ganeti-noded --no-ssl'))
    for (const value of values.length === 0 ? [undefined] : values) {
      const glued = (name: string) => read(program, [value === undefined ? name : `${name}=${value}`])
      const apart = (name: string) => read(program, value === undefined ? [name] : [name, value])
      const meaning = apart(long)
      expect([long, meaning]).not.toEqual([long, expect.objectContaining({ exitCode: 2 })])
      // These two are the default.
      if (!['--wait-children', '--job-age'].includes(long)) expect([long, meaning]).not.toEqual([long, defaults])
      expect([long, glued(long)]).toEqual([long, meaning])
      if (short !== undefined) expect([short, apart(short)]).toEqual([short, meaning])
      for (const begun of abbreviations(long, options))
        if (!AMBIGUOUS_HERE.includes(`${program} ${begun}`)) {
          expect([begun, glued(begun)]).toEqual([begun, meaning])
          expect([begun, apart(begun)]).toEqual([begun, meaning])
        }
    }
})

test('the cleaner takes the words of Ganeti', () => {
  expect(CLEANER).toEqual(['node | master (one argument)'])
  expect([readCleanerCall(['node']), readCleanerCall(['master'])]).toEqual(['node', 'master'])
})

test('noded refuses the one option with which nobody could obey it, and says what to do', () => {
  for (const word of ['--no-ssl', '--no-s'])
    expect(read('ganeti-noded', [word])).toMatchObject({
      text: expect.stringMatching(
        /noded does not take --no-ssl: .*Take it out of NODED_ARGS in \/etc\/default\/ganeti/,
      ),
    })
})

test('what fits several options is refused with all of them', () => {
  expect(read('ganeti-wconfd', ['--fo'])).toMatchObject({
    text: 'Error: ambiguous option: --fo (--force-node, --foreground?)',
  })
  expect(read('ganeti-watcher', ['--no-'])).toMatchObject({
    text: expect.stringContaining('ambiguous option: --no- (--no-strict, --no-verify-disks, --no-wait-children?)'),
  })
  expect(read('ganeti-noded', ['--nosuch=1'])).toMatchObject({ text: expect.stringContaining("'--nosuch'") })
})

test('a program that completes words is told the options, as by Ganeti', () => {
  const [noded, wconfd] = ['noded', 'wconfd'].map((name) => ROLES.find((role) => role.name === name))
  const lines = wconfd && optionList(wconfd).split('\n')
  expect(lines).toEqual(
    expect.arrayContaining(['-f,--foreground none', '--syslog choices=yes,no,only', '-V,--version none', '']),
  )
  expect(noded && optionList(noded)).toContain('-b,--bind inetaddr\n-p,--port integer\n')
  expect(completions(['noded', '--syslog='])).toEqual(['--syslog=yes', '--syslog=no', '--syslog=only'])
  expect(completions(['rapi', '--syslog=o'])).toEqual(['--syslog=only'])
})
