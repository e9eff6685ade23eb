// A file tree that becomes a package. Its files get Debian's modes, whatever the umask and the modes of the sources are.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { gzipSync } from 'node:zlib'

export class Tree {
  constructor(readonly root: string) {
    fs.rmSync(root, { recursive: true, force: true })
    fs.mkdirSync(root, { recursive: true })
  }

  /** `place` is a path on the machine, such as /usr/sbin/gnt. */
  write(place: string, content: string | Buffer, mode = 0o644): void {
    const file = this.make(place)
    fs.writeFileSync(file, content)
    fs.chmodSync(file, mode)
  }

  /** Compressed as Debian requires for documents. The bytes are always the same. */
  writeCompressed(place: string, content: string | Buffer): void {
    this.write(`${place}.gz`, gzipSync(content, { level: 9 }))
  }

  /** As Debian requires: relative within a top-level directory, which may be a file system of its own. */
  link(place: string, target: string): void {
    const isNear = place.split('/')[1] === target.split('/')[1]
    fs.symlinkSync(isNear ? path.posix.relative(path.posix.dirname(place), target) : target, this.make(place))
  }

  /** Executable files stay executable. `wanted` gets paths relative to the folder. */
  copy(source: string, place: string, desired: (name: string) => boolean = () => true): void {
    if (!fs.statSync(source).isDirectory()) return this.copyFile(source, place)
    for (const entry of fs.readdirSync(source, { recursive: true, withFileTypes: true })) {
      const file = path.join(entry.parentPath, entry.name)
      const name = path.relative(source, file)
      if (!entry.isDirectory() && desired(name)) this.copyFile(fs.realpathSync(file), path.posix.join(place, name))
    }
  }

  directory(place: string): void {
    fs.mkdirSync(path.join(this.root, place), { recursive: true })
  }

  has(place: string): boolean {
    return fs.lstatSync(path.join(this.root, place), { throwIfNoEntry: false }) !== undefined
  }

  /** The paths of all files, sorted. */
  files(): string[] {
    const entries = fs.readdirSync(this.root, { recursive: true, withFileTypes: true })
    return entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => path.relative(this.root, path.join(entry.parentPath, entry.name)))
      .sort()
  }

  kibibytes(): number {
    return this.files().reduce((sum, name) => sum + Math.ceil(fs.lstatSync(path.join(this.root, name)).size / 1024), 0)
  }

  private copyFile(source: string, place: string): void {
    const content = fs.readFileSync(source)
    // Some packages of npm have meaningless modes.
    const isScript = content.subarray(0, 2).toString('latin1') === '#!'
    const executable = isScript && (fs.statSync(source).mode & 0o100) !== 0
    this.write(place, executable ? withDebiansNode(content) : content, executable ? 0o755 : 0o644)
  }

  private make(place: string): string {
    const file = path.join(this.root, place)
    fs.mkdirSync(path.dirname(file), { recursive: true })
    return file
  }
}

/** The programs of a package start with the distribution's interpreter, whatever comes first in a user's path. */
function withDebiansNode(content: Buffer): Buffer {
  const first = '#!/usr/bin/env node\n'
  const isOurs = content.subarray(0, first.length).toString('latin1') === first
  return isOurs ? Buffer.concat([Buffer.from('#!/usr/bin/node\n'), content.subarray(first.length)]) : content
}
