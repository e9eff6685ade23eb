// Which files each package has, and where.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { PATH } from '../../src/model/constants/paths'
import { manualPages } from './man'
import { ADOPT, COMMANDS, HTOOLS } from './programs'
import { neededPackages } from './dependencies'
import type { Tree } from './tree'
import { HOME, packagedRoles, unitFiles } from './units'

const ROOT = path.join(__dirname, '../..')

export function fillHtools(tree: Tree): void {
  copyProgram(tree, ['load.js', 'compile.js', ...HTOOLS.map((name) => `${name}.js`)])
  const bundle = path.join(ROOT, 'dist/bundle/htools.js')
  tree.copy(bundle, `${HOME}/dist/bundle/htools.js`)
  tree.copy(path.join(ROOT, 'dist/bundle/programs.json'), `${HOME}/dist/bundle/programs.json`)
  copyPackages(tree, [bundle])
  for (const name of HTOOLS)
    tree.link(name === 'hail' ? `${PATH.PKGLIBDIR}/iallocators/hail` : `/usr/bin/${name}`, `${HOME}/bin/${name}.js`)
  tree.link(`${PATH.PKGLIBDIR}/mon-collector`, `${HOME}/bin/mon-collector.js`)
}

/** All that is not in `others`. */
export function fillGantry(tree: Tree, others: Tree): void {
  const dist = path.join(ROOT, 'dist')
  const isProgram = (name: string) => /\.js$|^bundle\/programs\.json$/.test(name)
  const isNew = (place: string) => !others.has(place)
  tree.copy(dist, `${HOME}/dist`, (name) => isProgram(name) && isNew(`${HOME}/dist/${name}`))
  copyProgram(tree, ['gantryd.js', 'gnt.js', 'job.js', 'ganeti-watcher', 'ganeti-cleaner'])
  copyPackages(
    tree,
    filesBelow(dist).filter((file) => file.endsWith('.js')),
    isNew,
  )
  for (const folder of ['openapi', 'os', 'ui/dist'])
    tree.copy(
      path.join(ROOT, folder),
      `${HOME}/${folder}`,
      (name) => !name.endsWith('made-from') && !name.endsWith('.S'),
    )
  for (const name of COMMANDS)
    tree.link(name === 'move-instance' ? PATH.TOOLSDIR + '/move-instance' : `/usr/sbin/${name}`, `${HOME}/bin/gnt.js`)
  for (const { program } of packagedRoles) tree.link(`/usr/sbin/${program}`, `${HOME}/bin/gantryd.js`)
  for (const name of ['ganeti-watcher', 'ganeti-cleaner']) tree.link(`/usr/sbin/${name}`, `${HOME}/bin/${name}`)
  tree.link('/usr/sbin/gantryd', `${HOME}/bin/gantryd.js`)
  for (const place of [
    PATH.DAEMON_UTIL,
    PATH.ENSURE_DIRS,
    PATH.SSH_UPDATE,
    PATH.PREPARE_NODE_JOIN,
    PATH.NODE_DAEMON_SETUP,
  ])
    tree.link(place, `${HOME}/bin/gantryd.js`)
  for (const [name, text] of Object.entries(unitFiles())) tree.write(`/lib/systemd/system/${name}`, text)
  tree.copy(path.join(ROOT, 'packaging/default-ganeti'), '/etc/default/ganeti')
  tree.copy(path.join(ROOT, 'packaging/logrotate'), '/etc/logrotate.d/ganeti')
  for (const place of [PATH.HOOKS_BASE_DIR, '/var/lib/ganeti', '/var/log/ganeti']) tree.directory(place)
}

/** A copy of the command line's program, so that it comes without all that has the place of Ganeti's. */
export function fillAdopt(tree: Tree): void {
  const home = `/usr/lib/${ADOPT}`
  const bundle = path.join(ROOT, 'dist/bundle/gnt.js')
  copyProgram(tree, ['load.js', 'gnt.js'], home)
  tree.copy(bundle, `${home}/dist/bundle/gnt.js`)
  copyPackages(tree, [bundle], undefined, home)
  tree.link(`/usr/sbin/${ADOPT}`, `${home}/bin/gnt.js`)
}

/** Manual pages and what shells complete. */
export async function describePrograms(gantry: Tree, htools: Tree, adopt: Tree, date: string): Promise<void> {
  for (const [file, page] of Object.entries(await manualPages(date))) {
    const section = file.slice(file.lastIndexOf('.') + 1)
    const name = file.slice(0, file.lastIndexOf('.'))
    const tree = name === ADOPT ? adopt : HTOOLS.includes(name) ? htools : gantry
    tree.writeCompressed(`/usr/share/man/man${section}/${file}`, page)
  }
  const programs = COMMANDS.filter((name) => name !== 'move-instance').join(' ')
  const shells = {
    bash: '/usr/share/bash-completion/completions/gnt',
    zsh: '/usr/share/zsh/vendor-completions/_gnt',
    fish: '/usr/share/fish/vendor_completions.d/gnt.fish',
  }
  for (const [shell, place] of Object.entries(shells)) {
    const text = fs.readFileSync(path.join(ROOT, 'packaging/completion', shell), 'utf8')
    gantry.write(place, text.replace('@PROGRAMS@', programs))
  }
  // bash looks for a file with the name of the program, fish too.
  for (const name of programs.split(' ').slice(1))
    for (const place of [shells.bash, shells.fish]) gantry.link(place.replace(/gnt(\.fish)?$/, `${name}$1`), place)
}

export function fillDoc(tree: Tree): void {
  const place = '/usr/share/doc/gantry-doc'
  for (const name of ['README.md', 'ARCHITECTURE.md']) tree.copy(path.join(ROOT, name), `${place}/${name}`)
  tree.copy(path.join(ROOT, 'docs'), `${place}/docs`)
  tree.copy(path.join(ROOT, 'openapi'), `${place}/openapi`)
}

function copyProgram(tree: Tree, names: readonly string[], home = HOME): void {
  for (const name of names) tree.copy(path.join(ROOT, 'bin', name), `${home}/bin/${name}`)
}

/** Packages of npm without what only those need who build them. */
function copyPackages(tree: Tree, files: readonly string[], isNew = (_place: string) => true, home = HOME): void {
  const needed = (name: string) =>
    /\.(c?js|json|css|html|png)$|^LICEN[CS]E/i.test(name) &&
    !/(^|\/)(test|tests|docs|example|examples|node_modules|esm|es)\//.test(name)
  for (const folder of neededPackages(ROOT, files))
    tree.copy(
      path.join(ROOT, folder),
      `${home}/${folder}`,
      (name) => needed(name) && isNew(`${home}/${folder}/${name}`),
    )
}

const filesBelow = (folder: string): string[] =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
