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

require('node:module')._extensions['.ts'] = (module, filename) => {
  module._compile(transformSync(readFileSync(filename, 'utf8'), { ...options, filename }).code, filename)
}
