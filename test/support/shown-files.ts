// A machine whose kernel, devices and configuration are given by the test.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { type Files, systemFiles } from '../../src/lib/files'

const SHOWN = /^\/(dev|etc|proc|run|sys)(\/|$)/

export interface ShownFiles {
  /** Files below `/dev`, `/etc`, `/proc`, `/run` and `/sys` are looked up among the given files. All others are the machine's own. */
  readonly files: Files
  put(file: string, text: string): void
  read(file: string): string
  /** The path of a given file. */
  place(file: string): string
  remove(): void
}

export function shownFiles(texts: Readonly<Record<string, string>>): ShownFiles {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-shown-'))
  const place = (file: unknown) => (typeof file === 'string' && SHOWN.test(file) ? path.join(folder, file) : file)
  const files = new Proxy(systemFiles, {
    get: (real, name: keyof Files) => {
      const call = real[name] as (...args: unknown[]) => unknown
      return (...args: unknown[]) => call(...args.map(place))
    },
  })
  const put = (file: string, text: string) => {
    fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
    fs.writeFileSync(path.join(folder, file), text)
  }
  for (const [file, text] of Object.entries(texts)) put(file, text)
  return {
    ...{ files, put, place: (file) => path.join(folder, file) },
    read: (file) => fs.readFileSync(path.join(folder, file), 'utf8'),
    remove: () => fs.rmSync(folder, { recursive: true }),
  }
}
