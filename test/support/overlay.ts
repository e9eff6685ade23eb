// The product with other texts in some of its files, and with more files: compiled and run without writing any of them.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { build } from 'esbuild'
import { root } from './source-tree'

/** By path from the project's root. */
export type Overlay = ReadonlyMap<string, string>

const nameOf = (file: string): string => path.relative(root, file)

/** The errors that the compiler finds in it: a process of its own compiles, because the compiler takes several times as long in a test. */
export function mistakes(overlay: Overlay): readonly string[] {
  const args = ['-r', './scripts/typescript.cjs', 'test/support/compile-overlay.ts']
  const output = execFileSync(process.execPath, args, {
    cwd: root,
    input: JSON.stringify([...overlay]),
    encoding: 'utf8',
  })
  return JSON.parse(output) as string[]
}

/** Runs a program that imports from `./src/`, and answers with the JSON that it prints. */
export async function answerOf(overlay: Overlay, program: string): Promise<unknown> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: root, loader: 'ts', sourcefile: 'probe.ts' },
    ...{ bundle: true, write: false, platform: 'node', packages: 'external', logLevel: 'silent' },
    plugins: [
      {
        name: 'overlay',
        setup({ onLoad, onResolve }) {
          onResolve({ filter: /^\./ }, ({ path: asked, resolveDir }) => {
            const file = path.resolve(resolveDir, asked.replace(/\.js$/, ''))
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
