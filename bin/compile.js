#!/usr/bin/env node
// Keeps V8's compiled form of the programs beside their bundles, for the Node that runs this: the build starts it, and a package when it
// is installed or Node has changed. A program that has none, or one of another Node, compiles anew whenever it starts.
'use strict'
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const load = require('./load')

const { bundleOf, compile, run } = load
const programs = load.programs()
const [, , one] = process.argv
if (one === undefined) keepAll()
else keep(one)

/** Where packages were split, some are not here. */
function keepAll() {
  for (const [name, { flags, example }] of Object.entries(programs)) {
    if (!fs.existsSync(bundleOf(name))) continue
    // Node must never find a form that was compiled from older sources.
    fs.rmSync(`${bundleOf(name)}.cache`, { force: true })
    // The compiled form depends on the options of Node.
    const { status } = spawnSync(process.execPath, [...flags, __filename, name], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    if (status !== 0) throw new Error(`${example.join(' ')} ended with ${status}`)
  }
}

/** An example is run, so that the functions that are always needed are among what is compiled. */
function keep(name) {
  process.argv = [process.execPath, ...programs[name].example]
  const script = compile(name)
  process.on('exit', () => fs.writeFileSync(`${bundleOf(name)}.cache`, script.createCachedData()))
  run(name, script)
}
