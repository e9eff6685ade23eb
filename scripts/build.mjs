// `npm run build`: turns each module of src/ into a file of dist/ that Node can load. Types are checked by `npm run typecheck`. Programs
// that people and scripts start often, and daemons, also become one file each, with its compiled code. Finding and compiling hundreds of
// files would take longer than most commands need, and daemons would keep that memory.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const require = createRequire(import.meta.url)
const { bundleOf } = require('../bin/load.js')
/** Runs an example of each program, and saves what V8 has compiled for it. */
const compiler = require.resolve('../bin/compile.js')
const self = fileURLToPath(import.meta.url)
const root = dirname(dirname(self))
const src = join(root, 'src')
const dist = join(root, 'dist')
const bundleFolder = dirname(bundleOf(''))

const COMMON = {
  absWorkingDir: root,
  platform: 'node',
  target: 'node20',
  // Node's loader of modules on demand costs a process 8 ms at its first use. Also, classes must be the same in all modules.
  supported: { 'dynamic-import': false },
  tsconfigRaw: { compilerOptions: { target: 'es2023', experimentalDecorators: true, useDefineForClassFields: true } },
  logLevel: 'error',
}

/** Large packages that are rarely needed. */
const RARE = ['@peculiar/x509', 're2js', 'reflect-metadata', 'yaml']

const sourcesIn = (folder) =>
  readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((name) => join(folder, name))

/** The path of the compiled form of a module of src/. */
const compiledOf = (source) => join(dist, relative(src, source)).replace(/\.ts$/, '.js')

/** A module in a bundle finds neighbouring files as it does outside a bundle. */
const ownPlaces = {
  name: 'own places',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const contents = readFileSync(path, 'utf8')
      if (!/\b__(file|dir)name\b/.test(contents)) return undefined
      const place = (file) => `require('node:path').join(inBundles, ${JSON.stringify(relative(bundleFolder, file))})`
      const compiled = compiledOf(path)
      const places = `const __filename = ${place(compiled)}, __dirname = ${place(dirname(compiled))};`
      return { contents: `${places}${contents}`, loader: 'ts' }
    })
  },
}

/** Modules that stay outside a bundle are loaded from dist/. */
const outside = (sources) => ({
  name: 'outside',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) => {
      const source = resolve(resolveDir, path.replace(/\.js$/, '')) + '.ts'
      if (!sources.includes(source)) return undefined
      return { path: `./${relative(bundleFolder, compiledOf(source))}`, external: true }
    })
  },
})

/** Our logs write themselves, so programs do without the worker threads that pino has for others. */
const noTransports = {
  name: 'no transports of pino',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\/(lib\/)?transport$/ }, ({ importer }) =>
      /\/node_modules\/pino\//.test(importer) ? { path: 'transport', namespace: 'pino' } : undefined,
    )
    onLoad({ filter: /.*/, namespace: 'pino' }, () => ({ contents: 'module.exports = undefined' }))
  },
}

await makeAll()

async function makeAll() {
  const stamp = join(dist, 'made-from')
  const sources = sourcesIn(src)
  const state = madeFrom(sources)
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === state) return
  rmSync(stamp, { force: true })
  await build({ ...COMMON, entryPoints: sources, outdir: dist, outbase: src, format: 'cjs', sourcemap: true })
  const made = Object.entries(bundles())
  for (const [name, how] of made) await make(name, how)
  const programs = Object.fromEntries(
    made.map(([name, { flags, hot_bytes, example }]) => [name, { flags, hot_bytes, example }]),
  )
  writeFileSync(join(bundleFolder, 'programs.json'), `${JSON.stringify(programs, null, 2)}\n`)
  const { status } = spawnSync(process.execPath, [compiler], { stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error(`${compiler} ended with ${status}`)
  removeOthers([
    ...sources.map(compiledOf),
    ...made.map(([name]) => bundleOf(name)),
    join(bundleFolder, 'programs.json'),
  ])
  // Written last, so that an interrupted build is repeated.
  writeFileSync(stamp, state)
}

/** A text that changes when the files of dist/ would change. */
function madeFrom(sources) {
  const files = [
    ...sources,
    self,
    compiler,
    require.resolve('../bin/load.js'),
    join(root, 'node_modules/.gantry-install'),
  ]
  const states = files.map((file) => {
    const { mtimeMs, size } = statSync(file, { throwIfNoEntry: false }) ?? {}
    return [file, mtimeMs, size].join(' ')
  })
  return [process.execPath, process.version, ...states].join('\n')
}

/** Removes files of an older build that no source makes any more. */
function removeOthers(made) {
  const ours = new Set(made.flatMap((file) => [file, `${file}.map`, `${file}.cache`]))
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    if (!entry.isDirectory() && !ours.has(file)) rmSync(file)
  }
}

/** The bundles, each with an example. The example is run once, so that the functions that are always needed are in the compiled code. */
function bundles() {
  const { nodeFlags } = require('../dist/lib/programs/node-flags.js')
  const { FRUGAL } = require('../dist/model/limits/daemons.js')
  const { ROLES } = require('../dist/roles/table.js')
  const onRealNodes = ROLES.filter(({ nodes }) => nodes !== 'simulated')
  // The compiled code depends on Node's options, so these are given here too.
  const options = (frugal) => ({ flags: nodeFlags(frugal, []), hot_bytes: frugal?.hot_bytes })
  const part = (name, entry, frugal) => ({
    entries: [entry, 'main.ts'],
    example: ['gantryd', name, '--help'],
    ...options(frugal),
    others: forOthers(ROLES, entry),
    without: ['express', 'swagger-ui-express', 'ws', ...RARE],
  })
  const role = ({ name, frugal }) => part(name, `start/${name}.ts`, frugal)
  const command = (name, example) => ({ entries: [`${name}.ts`], example, flags: [], others: [], without: RARE })
  return {
    gnt: command('gnt', ['gnt', 'instance', 'list', '--help']),
    htools: command('htools', ['hbal', '--help']),
    watcher: command('watcher', ['ganeti-watcher', '--help']),
    job: { ...command('job', ['job', '--help']), ...options(FRUGAL.job) },
    ...Object.fromEntries(onRealNodes.map((one) => [one.program, role(one)])),
    'ganeti-embedded': part('embedded', 'embedded/embedded.ts'),
  }
}

/** The files that main.ts loads only for other roles. */
function forOthers(roles, own) {
  const starts = [
    ...roles.map(({ name }) => name),
    'fold',
    'mirrors',
    'node-program',
    'daemon-util',
    'ensure-dirs',
  ].map((name) => `start/${name}.ts`)
  return [...starts, 'embedded/embedded.ts'].filter((entry) => entry !== own).map((entry) => join(src, entry))
}

async function make(name, { entries, others, without }) {
  await build({
    ...COMMON,
    stdin: { contents: entries.map((entry) => `import './${entry}'`).join('\n'), resolveDir: src },
    outfile: bundleOf(name),
    bundle: true,
    external: without,
    plugins: [ownPlaces, noTransports, outside(others)],
    // The wrapper that Node puts around modules.
    banner: { js: '(function (exports, require, module, __filename, inBundles) {' },
    footer: { js: '})' },
  })
}
