// Packages are the same bytes wherever their trees come from.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { archive } from '../../../scripts/package/archive'
import { Tree } from '../../../scripts/package/tree'
import { testWith } from '../../support/needs'

const EPOCH = 1_700_000_000
const FILES = {
  '/DEBIAN/control':
    'Package: small\nVersion: 1\nArchitecture: all\nMaintainer: Nobody <nobody@localhost>\nDescription: small\n',
  '/usr/share/small/b': 'b',
  '/usr/share/small/a': 'a',
}

testWith(fs.existsSync('/usr/bin/dpkg-deb'), 'dpkg')(
  'the same files become the same bytes, whatever their order, times and umask',
  () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'archive-'))
    const before = process.umask(0o022)
    try {
      const packed = (name: string, umask: number, files: [string, string][], time: number) => {
        process.umask(umask)
        const tree = new Tree(path.join(folder, name))
        for (const [place, text] of files) tree.write(place, text)
        tree.link('/usr/bin/small', '/usr/share/small/a')
        for (const file of tree.files()) fs.lutimesSync(path.join(tree.root, file), time, time)
        archive(tree.root, `${tree.root}.deb`, EPOCH)
        return fs.readFileSync(`${tree.root}.deb`)
      }
      const first = packed('first', 0o022, Object.entries(FILES), EPOCH - 100)
      expect(packed('second', 0o077, Object.entries(FILES).reverse(), EPOCH + 100).equals(first)).toBe(true)
      const other = { ...FILES, '/usr/share/small/b': 'c' }
      expect(packed('third', 0o022, Object.entries(other), EPOCH).equals(first)).toBe(false)
    } finally {
      process.umask(before)
      fs.rmSync(folder, { recursive: true })
    }
  },
)
