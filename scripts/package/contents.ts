// The files of each package, and their places.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { PATH } from '../../src/model/constants/paths'
import { releaseOf } from '../../src/model/release'
import { manualPages } from './man'
import { ADOPT, COMMANDS, HTOOLS, TOOLS_PLACES, WATCHERS } from './programs'
import { neededPackages } from './dependencies'
import type { Tree } from './tree'
import { HOME, packagedRoles, unitFiles } from './units'

const ROOT = path.join(__dirname, '../..')

/** People start these programs, also on machines that are in no cluster. So they are those of the version that was installed last. */
export function fillHtools(tree: Tree): void {
  const home = '/usr/lib/gantry-htools'
  copyProgram(tree, ['load.js', 'compile.js', ...HTOOLS.map((name) => `${name}.js`)], home)
  const bundle = path.join(ROOT, 'dist/bundle/htools.js')
  tree.copy(bundle, `${home}/dist/bundle/htools.js`)
  tree.copy(path.join(ROOT, 'dist/bundle/programs.json'), `${home}/dist/bundle/programs.json`)
  copyPackages(tree, [bundle], home)
  for (const name of HTOOLS)
    tree.link(name === 'hail' ? `${PATH.PKGLIBDIR}/iallocators/hail` : `/usr/bin/${name}`, `${home}/bin/${name}.js`)
  tree.link(`${PATH.PKGLIBDIR}/mon-collector`, `${home}/bin/mon-collector.js`)
}

/** One complete version of the product, in its own directory. No file here has a place that another version uses too. */
export function fillVersion(tree: Tree, version: string): void {
  const home = `${PATH.GANTRY_VERSIONS_DIR}/${version}`
  const dist = path.join(ROOT, 'dist')
  const isProgram = (name: string) => /\.js$|^bundle\/programs\.json$/.test(name)
  tree.copy(dist, `${home}/dist`, isProgram)
  copyProgram(tree, ['load.js', 'compile.js', 'gantryd.js', 'gnt.js', 'job.js', ...WATCHERS], home)
  copyPackages(
    tree,
    filesBelow(dist).filter((file) => file.endsWith('.js')),
    home,
  )
  for (const folder of ['openapi', 'os', 'ui/dist'])
    tree.copy(
      path.join(ROOT, folder),
      `${home}/${folder}`,
      (name) => !name.endsWith('made-from') && !name.endsWith('.S'),
    )
  tree.write(`${home}/release.json`, `${JSON.stringify(releaseOf(version))}\n`)
}

/** Ganeti's places, as links to the version that the node runs. */
export function fillGantry(tree: Tree): void {
  tree.link(HOME, PATH.GANTRY_VERSION_LINK)
  for (const name of COMMANDS) tree.link(TOOLS_PLACES[name] ?? `/usr/sbin/${name}`, `${HOME}/bin/gnt.js`)
  for (const { program } of packagedRoles) tree.link(`/usr/sbin/${program}`, `${HOME}/bin/gantryd.js`)
  for (const name of WATCHERS) tree.link(`/usr/sbin/${name}`, `${HOME}/bin/${name}`)
  tree.link('/usr/sbin/gantryd', `${HOME}/bin/gantryd.js`)
  for (const place of [
    PATH.DAEMON_UTIL,
    PATH.ENSURE_DIRS,
    PATH.SSH_UPDATE,
    PATH.SSL_UPDATE,
    PATH.PREPARE_NODE_JOIN,
    PATH.NODE_DAEMON_SETUP,
  ])
    tree.link(place, `${HOME}/bin/gantryd.js`)
  for (const [name, text] of Object.entries(unitFiles())) tree.write(`/lib/systemd/system/${name}`, text)
  tree.copy(path.join(ROOT, 'packaging/default-ganeti'), '/etc/default/ganeti')
  tree.copy(path.join(ROOT, 'packaging/logrotate'), '/etc/logrotate.d/ganeti')
  tree.copy(path.join(ROOT, 'packaging/apt'), '/etc/apt/apt.conf.d/20gantry')
  for (const place of [PATH.HOOKS_BASE_DIR, '/var/lib/ganeti', '/var/log/ganeti']) tree.directory(place)
}

/** A copy of the command line's program, so that it can be installed without the files in Ganeti's places. */
export function fillAdopt(tree: Tree): void {
  const home = `/usr/lib/${ADOPT}`
  const bundle = path.join(ROOT, 'dist/bundle/gnt.js')
  copyProgram(tree, ['load.js', 'gnt.js'], home)
  tree.copy(bundle, `${home}/dist/bundle/gnt.js`)
  copyPackages(tree, [bundle], home)
  tree.link(`/usr/sbin/${ADOPT}`, `${home}/bin/gnt.js`)
}

/** Manual pages and shell completions. */
export async function describePrograms(gantry: Tree, htools: Tree, adopt: Tree, date: string): Promise<void> {
  for (const [file, page] of Object.entries(await manualPages(date))) {
    const section = file.slice(file.lastIndexOf('.') + 1)
    const name = file.slice(0, file.lastIndexOf('.'))
    const tree = name === ADOPT ? adopt : HTOOLS.includes(name) ? htools : gantry
    tree.writeCompressed(`/usr/share/man/man${section}/${file}`, page)
  }
  const commands = COMMANDS.filter((name) => TOOLS_PLACES[name] === undefined)
  completeIn(gantry, [...commands, 'gantryd', ...packagedRoles.map(({ program }) => program), ...WATCHERS])
  completeIn(adopt, [ADOPT])
  completeIn(
    htools,
    HTOOLS.filter((name) => !['hail', 'mon-collector'].includes(name)),
  )
}

/** bash and fish look for a file with the name of the program. */
function completeIn(tree: Tree, programs: readonly string[]): void {
  const [first = '', ...others] = programs
  const places = {
    bash: (name: string) => `/usr/share/bash-completion/completions/${name}`,
    zsh: (name: string) => `/usr/share/zsh/vendor-completions/_${name}`,
    fish: (name: string) => `/usr/share/fish/vendor_completions.d/${name}.fish`,
  }
  for (const [shell, placeOf] of Object.entries(places)) tree.write(placeOf(first), completionFile(shell, programs))
  for (const placeOf of [places.bash, places.fish]) for (const name of others) tree.link(placeOf(name), placeOf(first))
}

export const completionFile = (shell: string, programs: readonly string[]): string =>
  fs.readFileSync(path.join(ROOT, 'packaging/completion', shell), 'utf8').replace('@PROGRAMS@', programs.join(' '))

export function fillDoc(tree: Tree): void {
  const place = '/usr/share/doc/gantry-doc'
  for (const name of ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md'])
    tree.copy(path.join(ROOT, name), `${place}/${name}`)
  tree.copy(path.join(ROOT, 'docs'), `${place}/docs`)
  tree.copy(path.join(ROOT, 'openapi'), `${place}/openapi`)
}

function copyProgram(tree: Tree, names: readonly string[], home: string): void {
  for (const name of names) tree.copy(path.join(ROOT, 'bin', name), `${home}/bin/${name}`)
}

/** Packages of npm, without the files that are only needed to build them. */
function copyPackages(tree: Tree, files: readonly string[], home: string): void {
  const needed = (folder: string) => (name: string) =>
    /\.(c?js|json|css|html|png)$|^LICEN[CS]E/i.test(name) &&
    !/(^|\/)(test|tests|docs|benchmarks|example|examples|node_modules|esm|es)\//.test(name) &&
    // pino's own page is for its web site.
    !(folder.endsWith('/pino') && name === 'index.html')
  for (const folder of neededPackages(ROOT, files))
    tree.copy(path.join(ROOT, folder), `${home}/${folder}`, needed(folder))
}

const filesBelow = (folder: string): string[] =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
