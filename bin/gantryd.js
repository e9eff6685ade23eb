#!/usr/bin/env node
// A role that runs for long has a bundle of its own, without what only others need.
'use strict'
const fs = require('node:fs')
const path = require('node:path')
const { bundleOf, load } = require('./load')

const named = /^ganeti-(\w+)$/.exec(path.basename(process.argv[1] ?? '', '.js'))?.[1] ?? process.argv[2] ?? ''
const bundle = `ganeti-${named}`
if (/^\w+$/.test(named) && fs.existsSync(bundleOf(bundle))) load(bundle)
else require('../dist/main.js')
