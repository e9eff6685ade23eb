// A solution as shell commands, shown or written to a file.
import { writeFile } from './files'
import { type Parsed, textOf } from './options'
import type { Terminal } from './terminal'

export function showCommands(title: string, text: string, options: Parsed, terminal: Terminal): void {
  const file = textOf(options, 'print-commands')
  if (file === undefined) return
  if (file === '-') {
    const lines = text
      .split('\n')
      .slice(0, -1)
      .filter((line) => line !== '  check')
    terminal.out(`\n${title}\n${lines.map((line) => `  ${line}\n`).join('')}`)
    return
  }
  writeFile(terminal, options.program, file, SCRIPT_START + text)
  terminal.out(`The commands have been written to file '${file}'\n`)
}

const SCRIPT_START = `#!/bin/sh

# Moves instances as hbal planned it. It stops before the next job when the file /tmp/stop-htools exists.

set -e

check() {
  if [ -f /tmp/stop-htools ]; then
    echo 'Stop requested, exiting'
    exit 0
  fi
}

`
