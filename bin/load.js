// Starts a program from its bundle with what V8 compiled when it was built. Another Node than that one compiles anew.
'use strict'
const fs = require('node:fs')
const { createRequire, wrap } = require('node:module')
const path = require('node:path')
const { Script } = require('node:vm')

/** Where `npm run build` puts the bundle of a program. */
const bundleOf = (program) => path.join(__dirname, '../dist/bundle', `${program}.js`)

/** Runs the program and answers its script, whose compiled form the build keeps. */
function load(program) {
  const file = bundleOf(program)
  // Bundles are ASCII.
  const source = wrap(fs.readFileSync(file, 'latin1'))
  const script = new Script(source, { filename: file, cachedData: readOrNothing(`${file}.cache`) })
  const module = { exports: {} }
  script.runInThisContext()(module.exports, createRequire(file), module, file, path.dirname(file))
  return script
}

function readOrNothing(file) {
  try {
    return fs.readFileSync(file)
  } catch {
    return undefined
  }
}

module.exports = { bundleOf, load }
