// Shows a solution as shell commands, or writes it to a file.
import { writeFile } from './files'
import { type Parsed, textOf } from './options'
import type { Context } from './context'

export function showCommands(title: string, text: string, options: Parsed, surroundings: Context): void {
  const file = textOf(options, 'print-commands')
  if (file === undefined) return
  if (file === '-') {
    const lines = text
      .split('\n')
      .slice(0, -1)
      .filter((line) => line !== '  check')
    surroundings.out(`\n${title}\n${lines.map((line) => `  ${line}\n`).join('')}`)
    return
  }
  writeFile(surroundings, options.program, file, SCRIPT_START + text)
  surroundings.out(`The commands have been written to file '${file}'\n`)
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
