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
  // Bundles are ASCII, and a function each.
  return new Script(fs.readFileSync(file, 'latin1'), { filename: file, cachedData: readOrNothing(`${file}.cache`) })
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

module.exports = { bundleOf, compile, load, run }
