// The product with other texts in some of its files, and with additional files. It is compiled and run without writing any of them.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { build } from 'esbuild'
import * as ts from 'typescript'
import { root } from './source-tree'

/** By path from the project's root. */
export type Overlay = ReadonlyMap<string, string>

const nameOf = (file: string): string => path.relative(root, file)

/** The product's sources with the overlay, and their types. */
export function programWith(overlay: Overlay): ts.Program {
  const { config } = ts.readConfigFile(path.join(root, 'tsconfig.json'), (file) => ts.sys.readFile(file)) as {
    config: unknown
  }
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  const settings = { ...options, noEmit: true, incremental: false, tsBuildInfoFile: undefined }
  const host = ts.createCompilerHost(settings)
  const { directoryExists, fileExists, getSourceFile } = host
  const folders = new Set([...overlay.keys()].map((name) => path.dirname(name)))
  host.directoryExists = (folder) => folders.has(nameOf(folder)) || directoryExists?.(folder) === true
  host.fileExists = (file) => overlay.has(nameOf(file)) || fileExists(file)
  host.getSourceFile = (file, target, ...rest) => {
    const text = overlay.get(nameOf(file))
    return text === undefined ? getSourceFile(file, target, ...rest) : ts.createSourceFile(file, text, target)
  }
  const sources = ts.sys.readDirectory(path.join(root, 'src'), ['.ts'])
  const added = [...overlay.keys()].filter((name) => name.endsWith('.ts')).map((name) => path.join(root, name))
  return ts.createProgram([...new Set([...sources, ...added])], settings, host)
}

/** The errors that the compiler finds. */
export const mistakes = (program: ts.Program): readonly string[] =>
  ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    const where = file === undefined ? '' : `${nameOf(file.fileName)}: `
    return `${where}${ts.flattenDiagnosticMessageText(messageText, ' ')}`
  })

/** Runs a program that imports from `./src/`, and returns the JSON that it prints. */
export async function answerOf(overlay: Overlay, program: string): Promise<unknown> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: root, loader: 'ts', sourcefile: 'probe.ts' },
    ...{ bundle: true, write: false, platform: 'node', packages: 'external', logLevel: 'silent' },
    plugins: [
      {
        name: 'overlay',
        setup({ onLoad, onResolve }) {
          onResolve({ filter: /^\./ }, ({ path: requested, resolveDir }) => {
            const file = path.resolve(resolveDir, requested.replace(/\.js$/, ''))
            return [`${file}.ts`, `${file}/index.ts`]
              .filter((one) => overlay.has(nameOf(one)) || fs.existsSync(one))
              .map((one) => ({ path: one }))[0]
          })
          onLoad({ filter: /\.ts$/ }, ({ path: file }) => {
            const contents = overlay.get(nameOf(file))
            return contents === undefined ? undefined : { contents, loader: 'ts' }
          })
        },
      },
    ],
  })
  return JSON.parse(
    execFileSync(process.execPath, ['-'], { cwd: root, input: outputFiles[0]?.text ?? '', encoding: 'utf8' }),
  )
}
