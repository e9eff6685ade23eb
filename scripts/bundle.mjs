// The last step of the build: programs that people and scripts start often become one file each, with its compiled form beside it,
// because finding and compiling two hundred files takes longer than what most commands do.
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'

const { bundleOf, load } = createRequire(import.meta.url)('../bin/load.js')
const self = fileURLToPath(import.meta.url)

/** Run once, so that the functions that every command needs are among what is compiled. */
const EXAMPLES = { gnt: ['gnt', 'instance', 'list', '--help'], htools: ['hbal', '--help'] }
/** Needed by few commands, and large. */
const LEFT_OUT = ['pino', '@peculiar/x509', 'reflect-metadata', 'yaml']

const [, , program, ...words] = process.argv
if (program === undefined) for (const [name, example] of Object.entries(EXAMPLES)) bundle(name, example)
else keepCompiled(program, words)

function bundle(name, example) {
  const outfile = bundleOf(name)
  // What was compiled from other sources must never be found beside new ones.
  rmSync(`${outfile}.cache`, { force: true })
  buildSync({
    entryPoints: [fileURLToPath(new URL(`../dist/${name}.js`, import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    external: LEFT_OUT,
    // Modules that are loaded on demand stay in the one file, and their classes are the same everywhere.
    supported: { 'dynamic-import': false },
    logLevel: 'error',
  })
  const { status } = spawnSync(process.execPath, [self, name, ...example], { stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error(`${example.join(' ')} ended with ${status}`)
}

function keepCompiled(name, words) {
  process.argv = [process.execPath, ...words]
  const script = load(name)
  process.on('exit', () => writeFileSync(`${bundleOf(name)}.cache`, script.createCachedData()))
}
