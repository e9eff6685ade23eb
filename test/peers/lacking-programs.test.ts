// The table of docs/compatibility.md names each program of Ganeti's packages that ours lack, and no other.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { fillGantry, fillHtools } from '../../scripts/package/contents'
import type { Tree } from '../../scripts/package/tree'
import { testWith } from '../support/needs'
import { root } from '../support/source-tree'

const GANETI = path.join(root, '.cache/ganeti')
/** Where Ganeti has programs, but for those of a version, which the others are links to. */
const FOLDERS = ['bin', 'sbin', 'lib/ganeti', 'lib/ganeti/tools', 'lib/ganeti/iallocators']

/** The places of our programs. */
function placed(): Set<string> {
  const places = new Set<string>()
  const nothing = () => undefined
  const tree = { link: (place: string) => void places.add(place), write: nothing, copy: nothing, directory: nothing }
  for (const fill of [fillGantry, fillHtools]) fill(tree as unknown as Tree)
  return places
}

const theirs = (): string[] =>
  FOLDERS.flatMap((folder) =>
    fs
      .readdirSync(path.join(GANETI, folder), { withFileTypes: true })
      .filter((entry) => !entry.isDirectory() && entry.name !== 'default')
      .map(({ name }) => `/usr/${folder}/${name}`),
  )

function reported(): string[] {
  const text = fs.readFileSync(path.join(root, 'docs/compatibility.md'), 'utf8')
  const table = text.slice(text.indexOf('\n| program '), text.indexOf('\n\n', text.indexOf('\n| program ')))
  const rows = table.trim().split('\n').slice(2)
  return rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name))
}

const ganetiTest = testWith(fs.existsSync(path.join(GANETI, 'sbin')), 'apt (then: sh test/kernel/ganeti.sh)')

ganetiTest('the documents name each program of Ganeti that our packages lack', () => {
  const ours = placed()
  const lacking = theirs().filter((place) => !ours.has(place))
  expect(reported().sort()).toEqual(lacking.map((place) => path.basename(place)).sort())
})
