// `npm run package`: makes Debian packages in build/. The machine that installs them need not build anything. The same sources give the
// same bytes: all files get the time SOURCE_DATE_EPOCH, or that of the last commit.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { parseArgs } from 'node:util'
import manifest from '../../package.json'
import { RELEASE_VERSION } from '../../src/model/constants/versions'
import { archive } from './archive'
import { describePrograms, fillAdopt, fillDoc, fillGantry, fillHtools, fillVersion } from './contents'
import { control, copyright, MAINTAINER, packageName, PACKAGES } from './control'
import { passesLintian } from './lintian'
import { Tree } from './tree'
import { unitFiles } from './units'

const ROOT = path.join(__dirname, '../..')

const { values } = parseArgs({
  options: { version: { type: 'string' }, into: { type: 'string', default: 'build' }, check: { type: 'boolean' } },
})
const version = values.version ?? manifest.version
const epoch = Number(process.env['SOURCE_DATE_EPOCH'] ?? git('log', '-1', '--format=%ct'))
void build(path.resolve(ROOT, values.into))

async function build(into: string): Promise<void> {
  fs.mkdirSync(into, { recursive: true })
  const treeOf = (name: string) => new Tree(path.join(into, 'tree', name))
  const trees = {
    'gantry-htools': treeOf('gantry-htools'),
    'gantry-version': treeOf('gantry-version'),
    gantry: treeOf('gantry'),
    'gantry-adopt': treeOf('gantry-adopt'),
    'gantry-doc': treeOf('gantry-doc'),
  }
  fillHtools(trees['gantry-htools'])
  fillVersion(trees['gantry-version'], version)
  fillGantry(trees.gantry)
  fillAdopt(trees['gantry-adopt'])
  fillDoc(trees['gantry-doc'])
  const date = new Date(epoch * 1000).toISOString().slice(0, 10)
  await describePrograms(trees.gantry, trees['gantry-htools'], trees['gantry-adopt'], date)
  const built: string[] = []
  for (const kind of PACKAGES) {
    const tree = trees[kind]
    const name = packageName(kind, version)
    tree.write(`/usr/share/doc/${name}/copyright`, copyright(path.join(ROOT, 'LICENSE'), tree))
    tree.writeCompressed(`/usr/share/doc/${name}/changelog`, changelog(name))
    const overrides = path.join(ROOT, 'packaging/lintian', kind)
    if (fs.existsSync(overrides))
      tree.write(`/usr/share/lintian/overrides/${name}`, filledIn(fs.readFileSync(overrides, 'utf8')))
    describe(tree, kind)
    const file = path.join(into, `${name}_${version}_all.deb`)
    archive(tree.root, file, epoch)
    built.push(file)
    process.stdout.write(`${path.relative(process.cwd(), file)}\n`)
  }
  fs.rmSync(path.join(into, 'tree'), { recursive: true })
  if (values.check === true && !passesLintian(built)) process.exitCode = 1
}

/** Writes the control files that dpkg needs. */
function describe(tree: Tree, name: (typeof PACKAGES)[number]): void {
  const files = tree.files()
  const sums = files
    .filter((file) => fs.lstatSync(path.join(tree.root, file)).isFile())
    .map(
      (file) =>
        `${createHash('md5')
          .update(fs.readFileSync(path.join(tree.root, file)))
          .digest('hex')}  ${file}\n`,
    )
  tree.write('/DEBIAN/md5sums', sums.join(''))
  tree.write('/DEBIAN/control', control(name, { version, size_kib: tree.kibibytes() }))
  const conffiles = files.filter((file) => file.startsWith('etc/')).map((file) => `/${file}\n`)
  if (conffiles.length > 0) tree.write('/DEBIAN/conffiles', conffiles.join(''))
  const enabled = Object.entries(unitFiles()).filter(([, text]) => text.includes('[Install]'))
  const scripts = path.join(ROOT, 'packaging/maintainer')
  for (const file of fs.readdirSync(scripts)) {
    const [of = '', script = ''] = file.split('.')
    const text = fs.readFileSync(path.join(scripts, file), 'utf8')
    const units = enabled.map(([unit]) => unit).join(' ')
    if (of === name)
      tree.write(`/DEBIAN/${script}`, filledIn(text).replace('@UNITS@', units), script === 'triggers' ? 0o644 : 0o755)
  }
}

const filledIn = (text: string): string => text.replaceAll('@VERSION@', version)

function changelog(name: string): string {
  const date = new Date(epoch * 1000).toUTCString().replace('GMT', '+0000')
  const text = `Built from the sources; speaks Ganeti ${RELEASE_VERSION}.`
  return `${name} (${version}) stable; urgency=medium\n\n  * ${text}\n\n -- ${MAINTAINER}  ${date}\n`
}

function git(...words: string[]): string {
  return execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' })
}
