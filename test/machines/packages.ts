// Packages for the machines: those of Gantry, built anew or earlier, and one with this machine's Node, in the place of a distribution's.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'

const ROOT = path.resolve(__dirname, '../..')

export function buildGantry(folder: string, version: string): string[] {
  const words = ['-r', './scripts/typescript.cjs', 'scripts/package/build.ts', '--version', version, '--into', folder]
  execFileSync(process.execPath, words, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
  return packagesIn(folder, version)
}

/** The files of a version of Gantry, in the order in which dpkg takes them. */
export const packagesIn = (folder: string, version: string): string[] =>
  ['gantry-htools', `gantry-${version}`, 'gantry', 'gantry-doc', 'gantry-adopt'].map((name) =>
    path.join(folder, `${name}_${version}_all.deb`),
  )

/** The version of Gantry whose packages are in this folder. */
export function versionIn(folder: string): string {
  const [version, ...others] = fs.readdirSync(folder).flatMap((file) => /^gantry_(.+)_all\.deb$/.exec(file)?.[1] ?? [])
  if (version !== undefined && others.length === 0) return version
  throw new Error(`${folder} must have the packages of one version of Gantry, as "npm run package" leaves them`)
}

export function buildNode(folder: string): string {
  const tree = path.join(folder, 'node')
  fs.mkdirSync(path.join(tree, 'DEBIAN'), { recursive: true })
  fs.mkdirSync(path.join(tree, 'usr/bin'), { recursive: true })
  fs.copyFileSync(process.execPath, path.join(tree, 'usr/bin/node'))
  const control = [
    'Package: nodejs',
    `Version: ${process.versions.node}-1machines1`,
    `Architecture: ${execFileSync('dpkg', ['--print-architecture'], { encoding: 'utf8' }).trim()}`,
    'Maintainer: The Gantry authors <gantry@localhost>',
    'Depends: libc6, libstdc++6',
    'Description: the Node that runs the tests',
  ]
  fs.writeFileSync(path.join(tree, 'DEBIAN/control'), `${control.join('\n')}\n`)
  const file = path.join(folder, 'nodejs.deb')
  execFileSync('dpkg-deb', ['--root-owner-group', '-Znone', '--build', tree, file], { stdio: 'ignore' })
  fs.rmSync(tree, { recursive: true })
  return file
}
