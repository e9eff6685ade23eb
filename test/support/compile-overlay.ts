// Compiles the product with the overlay on the standard input, and prints the compiler's complaints as JSON.
import * as fs from 'node:fs'
import * as path from 'node:path'
import * as ts from 'typescript'
import type { Overlay } from './overlay'

const root = path.join(__dirname, '../..')
const nameOf = (file: string): string => path.relative(root, file)

function complaints(overlay: Overlay): string[] {
  const config = ts.getParsedCommandLineOfConfigFile(
    path.join(root, 'tsconfig.json'),
    { incremental: false, tsBuildInfoFile: undefined },
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: ({ messageText }) => fail(messageText) },
  )
  if (config === undefined) return fail('tsconfig.json cannot be read')
  const host = ts.createCompilerHost(config.options)
  const { fileExists, getSourceFile } = host
  host.fileExists = (file) => overlay.has(nameOf(file)) || fileExists(file)
  host.getSourceFile = (file, target, ...rest) => {
    const text = overlay.get(nameOf(file))
    return text === undefined ? getSourceFile(file, target, ...rest) : ts.createSourceFile(file, text, target)
  }
  const added = [...overlay.keys()].map((name) => path.join(root, name))
  const sources = config.fileNames.filter((file) => nameOf(file).startsWith('src/'))
  const program = ts.createProgram([...new Set([...sources, ...added])], config.options, host)
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    return `${file === undefined ? '' : `${nameOf(file.fileName)}: `}${ts.flattenDiagnosticMessageText(messageText, ' ')}`
  })
}

function fail(text: string | ts.DiagnosticMessageChain): never {
  throw new Error(ts.flattenDiagnosticMessageText(text, '\n'))
}

process.stdout.write(JSON.stringify(complaints(new Map(JSON.parse(fs.readFileSync(0, 'utf8')) as [string, string][]))))
