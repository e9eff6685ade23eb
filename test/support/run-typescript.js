// Lets a forked Node run TypeScript files directly: node test/support/run-typescript.js FILE.ts ARGUMENTS...
const fs = require('node:fs')
const Module = require('node:module')
const path = require('node:path')

const CACHE = path.join(__dirname, '../../node_modules/.cache/run-typescript')

Module._extensions['.ts'] = (module, filename) => module._compile(compiled(filename), filename)

/** Compiled files are cached, because tests fork often, and loading the compiler takes longer than everything else in a small process. */
function compiled(filename) {
  const kept = path.join(CACHE, `${filename.replaceAll('/', '+')}.js`)
  const madeFrom = `// ${[filename, __filename].map((file) => fs.statSync(file).mtimeMs).join(' ')}\n`
  const code = fs.existsSync(kept) ? fs.readFileSync(kept, 'utf8') : ''
  if (code.startsWith(madeFrom)) return code
  const made = madeFrom + compile(filename)
  keep(kept, made)
  return made
}

/** Without a cache, for example where root made the folder and another user runs the tests, each process compiles for itself. */
function keep(file, made) {
  try {
    fs.mkdirSync(CACHE, { recursive: true })
    // Renamed when it is complete, because other processes may read or write the same file.
    fs.writeFileSync(`${file}.${process.pid}`, made)
    fs.renameSync(`${file}.${process.pid}`, file)
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes(error.code)) throw error
  }
}

function compile(filename) {
  const { code } = require('@swc/core').transformSync(fs.readFileSync(filename, 'utf8'), {
    filename,
    jsc: {
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true },
      target: 'es2023',
    },
    module: { type: 'commonjs' },
    sourceMaps: false,
  })
  return code
}

// Imports on demand name the compiled `.js` file, so this finds the source without that ending.
const resolve = Module._resolveFilename
Module._resolveFilename = (request, parent, ...rest) => {
  const uncompiled = parent?.filename?.endsWith('.ts') && request.startsWith('.') && request.endsWith('.js')
  return resolve(uncompiled ? request.slice(0, -'.js'.length) : request, parent, ...rest)
}
