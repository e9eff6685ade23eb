// The last step of the build: programs that people and scripts start often, and daemons, become one file each, with its compiled form
// beside it. Finding and compiling hundreds of files takes longer than what most commands do, and memory that daemons would keep.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const require = createRequire(import.meta.url)
const { bundleOf, compile, run } = require('../bin/load.js')
const self = fileURLToPath(import.meta.url)
const dist = fileURLToPath(new URL('../dist', import.meta.url))

/** Needed rarely, and large. */
const RARE = ['@peculiar/x509', 'reflect-metadata', 'yaml']

/** A module finds what lies beside it as it does outside a bundle. */
const ownPlaces = {
  name: 'own places',
  setup({ onLoad }) {
    onLoad({ filter: /\/dist\/.*\.js$/ }, ({ path }) => {
      const contents = readFileSync(path, 'utf8')
      if (path.includes('node_modules') || !/\b__(file|dir)name\b/.test(contents)) return undefined
      const place = (file) =>
        `require('node:path').join(inBundles, ${JSON.stringify(relative(dirname(bundleOf('')), file))})`
      const places = `const __filename = ${place(path)}, __dirname = ${place(dirname(path))};`
      return { contents: `'use strict';${places}${contents}` }
    })
  },
}

const [, , bundle, ...words] = process.argv
if (bundle === undefined) await makeAll()
else keepCompiled(bundle, words)

async function makeAll() {
  const stamp = join(dist, 'bundle/made-from')
  const sources = madeFrom()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === sources) return
  rmSync(stamp, { force: true })
  for (const [name, how] of Object.entries(bundles())) await make(name, how)
  // Written last: bundles that are not all there are made again.
  writeFileSync(stamp, sources)
}

/** Another text when the bundles would be others: the compiler leaves files alone that have not changed. */
function madeFrom() {
  const compiled = readdirSync(dist, { recursive: true }).filter(
    (name) => name.endsWith('.js') && !name.startsWith('bundle'),
  )
  const files = [...compiled.map((name) => join(dist, name)), self, require.resolve('../bin/load.js')]
  const packages = join(dist, '../node_modules/.gantry-install')
  const states = [...files, packages].map((file) => {
    const { mtimeMs, size } = statSync(file, { throwIfNoEntry: false }) ?? {}
    return [file, mtimeMs, size].join(' ')
  })
  return [process.execPath, process.version, ...states].join('\n')
}

/** Each with an example that is run once, so that the functions that are always needed are among what is compiled. */
function bundles() {
  const { nodeFlags } = require('../dist/lib/node-flags.js')
  const { YOUNG_MIB } = require('../dist/model/limits/daemons.js')
  const { ROLES } = require('../dist/roles/table.js')
  const onRealNodes = ROLES.filter(({ nodes }) => nodes !== 'simulated')
  // The compiled form depends on the options of Node, so these are given here as well.
  const role = ({ name, young_mib }) => ({
    entries: [`start/${name}.js`, 'main.js'],
    example: ['gantryd', name, '--help'],
    flags: nodeFlags(young_mib, []),
    without: [...forOthers(ROLES, name), 'express', 'helmet', 'swagger-ui-express', 'ws', ...RARE],
  })
  const command = (name, example) => ({ entries: [`${name}.js`], example, flags: [], without: RARE })
  return {
    gnt: command('gnt', ['gnt', 'instance', 'list', '--help']),
    htools: command('htools', ['hbal', '--help']),
    watcher: command('watcher', ['ganeti-watcher', '--help']),
    job: { entries: ['job.js'], example: ['job', '--help'], flags: nodeFlags(YOUNG_MIB.job, []), without: RARE },
    ...Object.fromEntries(onRealNodes.map((one) => [one.program, role(one)])),
  }
}

/** The files that main.js loads only for other roles. */
function forOthers(roles, name) {
  const starts = [...roles.map((role) => role.name), 'fold', 'node-program'].filter((other) => other !== name)
  return [...starts.map((other) => join(dist, 'start', `${other}.js`)), join(dist, 'embedded/embedded.js')]
}

async function make(name, { entries, example, flags, without }) {
  const outfile = bundleOf(name)
  // Node must never find a cache that was compiled from older sources.
  rmSync(`${outfile}.cache`, { force: true })
  await build({
    stdin: { contents: entries.map((entry) => `require('./${entry}')`).join('\n'), resolveDir: dist },
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    external: without,
    plugins: [ownPlaces],
    // Modules that are loaded on demand stay in the one file, and their classes are the same everywhere.
    supported: { 'dynamic-import': false },
    // As Node wraps modules.
    banner: { js: '(function (exports, require, module, __filename, inBundles) {' },
    footer: { js: '})' },
    logLevel: 'error',
  })
  const { status } = spawnSync(process.execPath, [...flags, self, name, ...example], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status !== 0) throw new Error(`${example.join(' ')} ended with ${status}`)
}

function keepCompiled(name, example) {
  process.argv = [process.execPath, ...example]
  const script = compile(name)
  process.on('exit', () => writeFileSync(`${bundleOf(name)}.cache`, script.createCachedData()))
  run(name, script)
}
