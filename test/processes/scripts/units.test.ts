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

/** How far other versions of systemd than the documented one may be from its scores. */
const OTHERWISE = 0.5

/** Rows such as "| `confd`, `luxid` | 2.1 | why |". */
function documented(): { version: number; scores: Record<string, number> } {
  const text = fs.readFileSync(DOCUMENT, 'utf8')
  const rows = text.matchAll(/^\| ((?:`[\w-]+`(?:, )?)+) +\| ([\d.]+) +\|/gm)
  const scores = Array.from(rows).flatMap(([, names = '', score]) =>
    Array.from(names.matchAll(/[\w-]+/g), ([name]) => [name, Number(score)] as const),
  )
  return {
    version: Number(/--offline=yes` of systemd (\d+)/.exec(text)?.[1]),
    scores: Object.fromEntries(scores),
  }
}

function analyze(...args: string[]): string {
  return execFileSync(PROGRAM, args, { encoding: 'utf8' })
}

programTest('each service is shut in as far as the documents say', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'units-'))
  try {
    const services = Object.entries(unitFiles()).filter(([unit]) => unit.endsWith('.service'))
    const scores = services.map(([unit, text]) => {
      const name = unit.replace(/^ganeti-|\.service$/g, '')
      const file = path.join(folder, unit)
      fs.writeFileSync(file, text)
      const reported = analyze('security', '--offline=yes', '--no-pager', file)
      return [name, Number(/Overall exposure level for .*: ([\d.]+)/.exec(reported)?.[1])] as const
    })
    const { version, scores: expected } = documented()
    expect(version).not.toBeNaN()
    expect(scores.map(([name]) => name).sort()).toEqual(Object.keys(expected).sort())
    const here = Number(/^systemd (\d+)/.exec(analyze('--version'))?.[1])
    const wrong = scores.filter(([name, score]) => {
      const off = Math.abs(score - (expected[name] ?? NaN))
      return !(here === version ? off === 0 : off <= OTHERWISE)
    })
    expect(wrong).toEqual([])
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
})
