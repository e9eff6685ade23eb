// docs/install.md says how far systemd shuts the daemons in. That is what systemd itself finds in the units.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { unitFiles } from '../../../scripts/package/units'
import { testWith } from '../../support/needs'

const PROGRAM = '/usr/bin/systemd-analyze'
const DOCUMENT = path.join(__dirname, '../../../docs/install.md')
const programTest = testWith(fs.existsSync(PROGRAM), 'systemd')

/** Rows such as "| `confd`, `luxid` | 2.1 | why |". */
function documented(): Record<string, string> {
  const rows = fs.readFileSync(DOCUMENT, 'utf8').matchAll(/^\| ((?:`[\w-]+`(?:, )?)+) +\| ([\d.]+) +\|/gm)
  return Object.fromEntries(
    Array.from(rows).flatMap(([, names = '', score = '']) =>
      Array.from(names.matchAll(/[\w-]+/g), ([name]) => [name, score] as const),
    ),
  )
}

programTest('each service is shut in as far as the documents say', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'units-'))
  try {
    const services = Object.entries(unitFiles()).filter(([unit]) => unit.endsWith('.service'))
    const scores = services.map(([unit, text]) => {
      const name = unit.replace(/^ganeti-|\.service$/g, '')
      const file = path.join(folder, unit)
      fs.writeFileSync(file, text)
      const told = execFileSync(PROGRAM, ['security', '--offline=yes', '--no-pager', file], { encoding: 'utf8' })
      return [name, /Overall exposure level for .*: ([\d.]+)/.exec(told)?.[1]] as const
    })
    expect(Object.fromEntries(scores)).toEqual(documented())
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
})
