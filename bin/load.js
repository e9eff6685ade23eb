// Starts a program from its bundle with what V8 compiled when it was built. Another Node than that one compiles anew.
'use strict'
const fs = require('node:fs')
const { createRequire } = require('node:module')
const path = require('node:path')
const { Script } = require('node:vm')

/** Where `npm run build` puts the bundle of a program. */
const bundleOf = (program) => path.join(__dirname, '../dist/bundle', `${program}.js`)

const load = (program) => run(program, compile(program))

function compile(program) {
  const file = bundleOf(program)
  // The compiled form depends on the options of V8.
  delayOptimizer(programs()[program]?.hot_bytes)
  // Bundles are ASCII, and a function each.
  return new Script(fs.readFileSync(file, 'latin1'), { filename: file, cachedData: readOrNothing(`${file}.cache`) })
}

/** What the build knows about the programs. A package with commands alone has no such file. */
const programs = () => JSON.parse(readOrNothing(path.join(path.dirname(bundleOf('')), 'programs.json')) ?? '{}')

/**
 * How many bytes of a function's code must have run before V8 optimizes it. The optimizer takes some three megabytes as soon as it runs
 * once. By V8's own measure an idle daemon gets there within a minute. V8 12, that of Node 22, does not know this option any more.
 */
function delayOptimizer(hot_bytes) {
  if (hot_bytes === undefined || Number.parseInt(process.versions.v8) >= 12) return
  require('node:v8').setFlagsFromString(`--interrupt-budget=${hot_bytes}`)
}

function run(program, script) {
  const file = bundleOf(program)
  const module = { exports: {} }
  script.runInThisContext()(module.exports, createRequire(file), module, file, path.dirname(file))
}

function readOrNothing(file) {
  try {
    return fs.readFileSync(file)
  } catch {
    return undefined
  }
}

module.exports = { bundleOf, compile, load, programs, run }
