// What shells make of the files of completion; a double takes the place of the program that knows the words.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { completionFile } from '../../../scripts/package/contents'
import { testWith } from '../../support/needs'
import { root } from '../../support/source-tree'

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'completion-'))
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

/** A program that answers with these words, and notes what it was asked. */
function program(answer: readonly string[]): string {
  const file = path.join(folder, 'gnt')
  const text = `#!/bin/sh\nprintf '%s|' "$@" > ${folder}/asked\nprintf '%s\\n' ${answer.map((word) => `'${word}'`).join(' ')}\n`
  fs.writeFileSync(file, text, { mode: 0o755 })
  return file
}

const requested = (): string => fs.readFileSync(path.join(folder, 'asked'), 'utf8')

function shell(name: string, args: readonly string[], script: string): string[] {
  const file = path.join(folder, 'script')
  fs.writeFileSync(file, script)
  const said = execFileSync(name, [...args, file], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  return said.split('\n').filter((line) => line !== '')
}

function source(name: string): string {
  const file = path.join(folder, name)
  fs.writeFileSync(file, completionFile(name, ['gnt']))
  return file
}

/** What bash would offer behind this line. */
const bash = (line: string, answer: readonly string[]): string[] =>
  shell(
    'bash',
    ['--norc'],
    `source ${source('bash')}\nCOMP_LINE='${line}'\nCOMP_POINT=\${#COMP_LINE}\n_gantry ${program(answer)}\nprintf '%s\\n' "\${COMPREPLY[@]}"\n`,
  )

test('bash asks the program with the words up to the cursor, and offers what it says', () => {
  expect(bash('gnt instance mig', ['migrate'])).toEqual(['migrate'])
  expect(requested()).toBe('--complete-words|instance|mig|')
  expect(bash('gnt instance migrate ', ['vm1', 'vm2'])).toEqual(['vm1', 'vm2'])
  expect(requested()).toBe('--complete-words|instance|migrate||')
})

test('bash gets only what stands behind the sign at which it breaks words', () => {
  expect(bash('gnt instance add --disk-template=dr', ['--disk-template=drbd'])).toEqual(['drbd'])
  expect(bash('gnt instance add -n node1:n', ['node1:node2'])).toEqual(['node2'])
  expect(bash('gnt instance add --node=node1:n', ['--node=node1:node2'])).toEqual(['node2'])
})

testWith(fs.existsSync('/usr/bin/zsh'), 'zsh')('zsh offers the words, and lets a value follow its option', () => {
  const script =
    `compadd() { print -rl -- "$*" }\nwords=(${program(['--node=', '--force'])} instance add --)\nCURRENT=4\n` +
    `complete_gnt() { source ${source('zsh')} }\ncomplete_gnt\n`
  expect(shell('zsh', ['-f'], script)).toEqual(['-S  -- --node=', '-- --force'])
  expect(requested()).toBe('--complete-words|instance|add|--|')
})

testWith(fs.existsSync('/usr/bin/fish'), 'fish')('fish offers the words behind the program', () => {
  const script = `set -x PATH ${folder} $PATH\nsource ${source('fish')}\ncomplete --do-complete 'gnt instance mi'\n`
  program(['migrate'])
  expect(shell('fish', ['--no-config'], script)).toEqual(['migrate'])
  expect(requested()).toBe('--complete-words|instance|mi|')
})

test.each([
  ['ganeti-noded', 'gantryd.js', ['--fore'], ['--foreground']],
  ['ganeti-rapi', 'gantryd.js', ['-b', '::1', '--syslog=o'], ['--syslog=only']],
  ['ganeti-watcher', 'ganeti-watcher', ['--ig'], ['--ignore-pause']],
  ['ganeti-cleaner', 'ganeti-cleaner', ['n'], ['node']],
  ['gantry-adopt', 'gnt.js', ['--chec'], ['--check']],
])('%s itself knows its words', (name, file, words, expected) => {
  const link = path.join(folder, name)
  fs.symlinkSync(path.join(root, 'bin', file), link)
  const said = execFileSync(process.execPath, [link, '--complete-words', ...words], { encoding: 'utf8' })
  expect(said.split('\n').filter((line) => line !== '')).toEqual(expected)
})
