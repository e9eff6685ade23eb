// One command for everything that is derived from the opcode table and the controllers:
//   opcodes -> src/generated/opcode-params.ts -> tsoa -> src/generated/routes.ts and openapi/rapi.json
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync, existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import * as path from 'node:path'
import { DefaultRouteGenerator, generateSpec } from '@tsoa/cli'
import { finishSpec, type Spec } from './openapi'
import { opcodeInterfaces } from './opcode-interfaces'
import { resourceViews } from './resource-views'

const ROOT = path.join(__dirname, '..')
const PARAMS = 'src/generated/opcode-params.ts'
const VIEWS = 'src/generated/resource-views.ts'

async function main(): Promise<void> {
  // The controllers are read by tsoa together with these interfaces, so they are written first.
  write(PARAMS, opcodeInterfaces())
  write(VIEWS, resourceViews())
  for (const [file, text] of await routesAndSpec()) write(file, text)
}

/** The texts of all generated files, by path; writes nothing into the repository. */
export async function generated(): Promise<Map<string, string>> {
  return new Map([[PARAMS, opcodeInterfaces()], [VIEWS, resourceViews()], ...(await routesAndSpec())])
}

async function routesAndSpec(): Promise<Map<string, string>> {
  const config = JSON.parse(readFileSync(path.join(ROOT, 'tsoa.json'), 'utf8'))
  const shared = { entryFile: config.entryFile, noImplicitAdditionalProperties: config.noImplicitAdditionalProperties }
  const globs = config.controllerPathGlobs.flatMap(matches)
  const temporary = mkdtempSync(path.join(tmpdir(), 'gantry-generate-'))
  try {
    const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'))
    const spec = { ...shared, ...config.spec, version, controllerPathGlobs: globs, outputDirectory: temporary }
    const metadata = await generateSpec(spec, config.compilerOptions, [], undefined, spec.defaultNumberType)
    const raw: Spec = JSON.parse(readFileSync(path.join(temporary, 'rapi.json'), 'utf8'))
    const routes = { ...shared, ...config.routes, routesDir: path.join(ROOT, config.routes.routesDir) }
    const template = readFileSync(path.join(ROOT, config.routes.middlewareTemplate), 'utf8')
    return new Map([
      ['src/generated/routes.ts', new DefaultRouteGenerator(metadata, routes).buildContent(template)],
      ['openapi/rapi.json', JSON.stringify(finishSpec(raw), null, 1) + '\n'],
    ])
  } finally {
    rmSync(temporary, { recursive: true })
  }
}

/** The files of a glob in a fixed order; tsoa would take them as the disk lists them. */
function matches(glob: string): string[] {
  const [directory, suffix] = [path.join(ROOT, path.dirname(glob)), path.basename(glob).replace('*', '')]
  return readdirSync(directory)
    .filter((name) => name.endsWith(suffix))
    .sort()
    .map((name) => path.join(directory, name))
}

function write(file: string, text: string): void {
  const target = path.join(ROOT, file)
  if (existsSync(target) && readFileSync(target, 'utf8') === text) return
  writeFileSync(target, text)
  console.log(`wrote ${file}`)
}

if (require.main === module)
  main().catch((error: unknown) => {
    console.error(error)
    process.exitCode = 1
  })
