// Lets plain Node run the TypeScript of this repository: `node -r ./scripts/typescript.cjs scripts/generate.ts`.
const { readFileSync } = require('node:fs')
const { transformSync } = require('@swc/core')

const options = {
  jsc: {
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true },
    target: 'es2023',
  },
  module: { type: 'commonjs' },
  sourceMaps: 'inline',
}

const Module = require('node:module')
const resolve = Module._resolveFilename
// Imports on demand name the file extension that a module has after the build.
Module._resolveFilename = (request, ...others) => {
  if (!/^\.{1,2}\/.*\.js$/.test(request)) return resolve(request, ...others)
  try {
    return resolve(request, ...others)
  } catch {
    return resolve(request.replace(/\.js$/, ''), ...others)
  }
}

Module._extensions['.ts'] = (module, filename) => {
  module._compile(transformSync(readFileSync(filename, 'utf8'), { ...options, filename }).code, filename)
}
