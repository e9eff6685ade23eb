// One command for everything that is derived from the opcode table and the controllers:
//   opcodes -> src/generated/opcode-params.ts -> tsoa -> src/generated/<door>-routes.ts and openapi/<door>.json
// It also draws the picture of ARCHITECTURE.md.
// tsoa.json lists the doors.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync, existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import * as path from 'node:path'
import { DefaultRouteGenerator, generateSpec } from '@tsoa/cli'
import { version } from '../package.json'
import config from '../tsoa.json'
import { finishRapi } from './openapi/rapi'
import { finishMetad } from './openapi/metad'
import { finishMaintd } from './openapi/maintd'
import { finishMond } from './openapi/mond'
import { finishPlain, type Spec } from './openapi/document'
import { opcodeInterfaces } from './opcode-interfaces'
import { pageControllers } from './page-controllers'
import { processesDrawing } from './processes-drawing'
import { resourceViews } from './resource-views'

const ROOT = path.join(__dirname, '..')

/** Controllers that are generated for tsoa, which reads them with the hand-written ones. */
const FOR_TSOA: Readonly<Record<string, () => string>> = {
  'src/generated/opcode-params.ts': opcodeInterfaces,
  'src/generated/resource-views.ts': resourceViews,
  'src/generated/rapi-pages.ts': pageControllers,
}

type SpecConfig = Parameters<typeof generateSpec>[0]

export interface HttpDocument extends Pick<SpecConfig, 'securityDefinitions' | 'tags'> {
  readonly name: string
  readonly description: string
  readonly controllerPathGlobs: readonly string[]
  /** The type of the object that the controllers get. */
  readonly context: { readonly type: string; readonly file: string }
}

// In tsoa.json the types are only texts.
const DOCUMENTS = config.documents as Readonly<Record<string, HttpDocument>>

/** Bodies are checked by the product, so tsoa adds no checks. */
const SHARED = { entryFile: '', noImplicitAdditionalProperties: 'ignore' } as const
const SPEC = { ...SHARED, specVersion: 3, defaultNumberType: 'integer' } as const

/** Adds to the document of an API what its controllers do not say. */
const FINISH: Readonly<Record<string, (spec: Spec) => Spec>> = {
  rapi: finishRapi,
  mond: finishMond,
  metad: finishMetad,
  maintd: finishMaintd,
}

async function main(): Promise<void> {
  // tsoa reads these from files, so they are written first.
  for (const [file, text] of forTsoa()) write(file, text)
  for (const [file, text] of await doorFiles()) write(file, text)
  write(...drawing())
}

/** The texts of all generated files, by path; writes nothing into the repository. */
export async function generated(): Promise<Map<string, string>> {
  return new Map([...forTsoa(), ...(await doorFiles()), drawing()])
}

const drawing = () => ['docs/architecture/processes.svg', processesDrawing()] as const

const forTsoa = () => Object.entries(FOR_TSOA).map(([file, text]) => [file, text()] as const)

async function doorFiles(): Promise<Map<string, string>> {
  const files = new Map<string, string>()
  for (const [door, document] of Object.entries(DOCUMENTS)) {
    const { routes, spec } = await routesAndSpec(document, 'src/generated', FINISH[door])
    files.set(`src/generated/${door}-routes.ts`, routes).set(`openapi/${door}.json`, spec)
  }
  return files
}

/** The table of an API's routes, for a file in `folder`, and its document. */
export async function routesAndSpec(
  document: HttpDocument,
  folder: string,
  finish: (spec: Spec) => Spec = finishPlain,
): Promise<{ routes: string; spec: string }> {
  const { context, controllerPathGlobs, ...own } = document
  const globs = controllerPathGlobs.flatMap(matches)
  const temporary = mkdtempSync(path.join(tmpdir(), 'gantry-generate-'))
  try {
    const output = { outputDirectory: temporary, specFileBaseName: 'spec', version, controllerPathGlobs: globs }
    const spec = { ...SPEC, ...config.spec, ...own, ...output }
    const metadata = await generateSpec(spec, config.compilerOptions, [], undefined, spec.defaultNumberType)
    const raw: Spec = JSON.parse(readFileSync(path.join(temporary, 'spec.json'), 'utf8'))
    const routesDir = path.resolve(ROOT, folder)
    const from = (file: string): string => path.relative(routesDir, path.join(ROOT, file))
    const template = readFileSync(path.join(ROOT, config.routes.middlewareTemplate), 'utf8')
      .replace('#dispatch', from('src/http/dispatch'))
      .replace('#context', from(context.file))
      .replaceAll('#Context', context.type)
    return {
      routes: new DefaultRouteGenerator(metadata, { ...SHARED, ...config.routes, routesDir }).buildContent(template),
      spec: JSON.stringify(finish(raw), null, 1) + '\n',
    }
  } finally {
    rmSync(temporary, { recursive: true })
  }
}

/** The files of a glob in a fixed order. tsoa would take them in the order of the disk. */
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
