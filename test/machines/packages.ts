// Packages for the machines: those of Gantry, built anew, and one with this machine's Node, in the place of a distribution's.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'

const ROOT = path.resolve(__dirname, '../..')

/** The files of a version of Gantry, in the order in which dpkg takes them. */
export function buildGantry(folder: string, version: string): string[] {
  const words = ['-r', './scripts/typescript.cjs', 'scripts/package/build.ts', '--version', version, '--into', folder]
  execFileSync(process.execPath, words, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
  return ['gantry-htools', `gantry-${version}`, 'gantry', 'gantry-doc', 'gantry-adopt'].map((name) =>
    path.join(folder, `${name}_${version}_all.deb`),
  )
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
