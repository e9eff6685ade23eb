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
