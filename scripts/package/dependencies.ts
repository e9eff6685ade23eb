// Finds the packages of npm that the built programs load, and those that these load in turn.
import * as fs from 'node:fs'
import { createRequire, isBuiltin } from 'node:module'
import * as path from 'node:path'

/** The folders below node_modules/ that these files need, sorted. */
export function neededPackages(root: string, files: readonly string[]): string[] {
  const needed = new Set<string>()
  const add = (name: string, from: string): void => {
    const folder = folderOf(root, name, from)
    if (folder === undefined || needed.has(folder)) return
    needed.add(folder)
    const manifest = JSON.parse(fs.readFileSync(path.join(root, folder, 'package.json'), 'utf8')) as Manifest
    for (const other of Object.keys(manifest.dependencies ?? {})) add(other, path.join(root, folder, 'package.json'))
  }
  for (const file of files)
    for (const [, name = ''] of fs.readFileSync(file, 'latin1').matchAll(/require\("([^".][^"]*)"\)/g))
      if (!isBuiltin(name)) add(packageOf(name), path.join(root, 'package.json'))
  return [...needed].sort()
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
}

/** `@tsoa/runtime/dist/x` belongs to `@tsoa/runtime`. */
const packageOf = (name: string): string =>
  name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/')

/** Looks as Node does: in node_modules/ of the folder and of its parents. */
function folderOf(root: string, name: string, from: string): string | undefined {
  for (const directory of createRequire(from).resolve.paths(name) ?? []) {
    const folder = path.join(directory, name)
    if (fs.existsSync(path.join(folder, 'package.json'))) return path.relative(root, folder)
  }
  throw new Error(`${name} is not installed, and ${path.relative(root, from)} needs it`)
}
