// Lets a forked Node run TypeScript files as they are: node test/support/run-typescript.js FILE.ts ARGUMENTS...
const fs = require('node:fs')
const Module = require('node:module')
const { transformSync } = require('@swc/core')

Module._extensions['.ts'] = (module, filename) => {
  const { code } = transformSync(fs.readFileSync(filename, 'utf8'), {
    filename,
    jsc: {
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true },
      target: 'es2023',
    },
    module: { type: 'commonjs' },
    sourceMaps: 'inline',
  })
  module._compile(code, filename)
}

// Imports on demand name the compiled `.js` file, so this finds the source without that ending.
const resolve = Module._resolveFilename
Module._resolveFilename = (request, parent, ...rest) => {
  const uncompiled = parent?.filename?.endsWith('.ts') && request.startsWith('.') && request.endsWith('.js')
  return resolve(uncompiled ? request.slice(0, -'.js'.length) : request, parent, ...rest)
}
