// Loads modules for test files. Modules of src/ and of packages are loaded once for all files of a worker, because loading them again took
// most of the tests' time. Files below test/ are loaded for each test file. A test file that replaces modules, or stops the clock while
// modules look at it, gets its own copies of everything.
const asyncHooks = require('node:async_hooks')
const { readFileSync } = require('node:fs')
const Module = require('node:module')
const path = require('node:path')
const { compileFunction } = require('node:vm')
const { default: Runtime } = require('jest-runtime')
const openapi = require('../ui/openapi-schemas.cjs')

const [PRODUCT, PACKAGES] = ['src', 'node_modules'].map((folder) => path.join(__dirname, '..', folder) + path.sep)
const ALONE = /\bjest\.(mock|doMock|isolateModules\w*|resetModules|useFakeTimers)\b/

class SharingRuntime extends Runtime {
  constructor(...given) {
    super(...given)
    this.alone = ALONE.test(readFileSync(this._testPath, 'utf8'))
    const { executor } = this
    executor.compile = (source, filename) => compileFunction(source, executor.injectedModuleParameters, { filename })
    loader.transform = (filename) => this.transformShared(filename)
    loader.isTransformed = (filename) => this.transformCache.scriptTransformer.shouldTransform(filename)
  }

  transformShared(filename) {
    const transformed = this.transformCache.scriptTransformer.transform(filename, this._getFullTransformationOptions())
    if (transformed.sourceMapPath) sourceMaps.set(filename, transformed.sourceMapPath)
    return transformed.code
  }

  requireModule(from, moduleName, options, isRequireActual) {
    // For the console, Vite makes these modules.
    if (moduleName?.startsWith(openapi.PREFIX)) return { schema: openapi.schemaOf(moduleName) }
    const isInternal = options?.isInternalModule
    if (moduleName && !isInternal && !this.alone && !this._resolution.isCoreModule(moduleName)) {
      const found = this._resolution.resolveCjs(from, moduleName)
      if (found.startsWith(PRODUCT) || found.startsWith(PACKAGES)) return require(found)
    }
    return super.requireModule(from, moduleName, options, isRequireActual)
  }

  /** The part of Jest that runs one file, and keeps the data of that file. */
  requireInternalModule(from, to) {
    if (to) return super.requireInternalModule(from, to)
    delete require.cache[from]
    // Since Node 22 it is no plain value.
    const before = Object.getOwnPropertyDescriptor(asyncHooks, 'AsyncLocalStorage')
    Object.defineProperty(asyncHooks, 'AsyncLocalStorage', {
      ...{ configurable: true, enumerable: true },
      value: function () {
        return testContext
      },
    })
    try {
      return require(from)
    } finally {
      Object.defineProperty(asyncHooks, 'AsyncLocalStorage', before)
      module.children = []
    }
  }

  /** Includes the source maps of shared modules, whichever file loaded them. */
  getSourceMaps() {
    const own = super.getSourceMaps()
    return { get: (file) => own.get(file) ?? sourceMaps.get(file), [Symbol.iterator]: () => own[Symbol.iterator]() }
  }
}

const sourceMaps = new Map()

/** Node looks at each of these at every promise until its process ends, so all files share one. */
const testContext = new asyncHooks.AsyncLocalStorage()

/** How modules are compiled for the running test file. */
const loader = { transform: undefined, isTransformed: undefined }

const compileShared = (module, filename) => module._compile(loader.transform(filename), filename)
Module._extensions['.ts'] = compileShared

// jest.config.js transforms those packages that are not CommonJS.
const loadJs = Module._extensions['.js']
Module._extensions['.js'] = (module, filename) =>
  filename.startsWith(PACKAGES) && loader.isTransformed?.(filename)
    ? compileShared(module, filename)
    : loadJs(module, filename)

// Imports on demand name the file extension that a module has after the build.
const resolve = Module._resolveFilename
Module._resolveFilename = (request, parent, ...rest) => {
  const uncompiled = parent?.filename?.endsWith('.ts') && request.startsWith('.') && request.endsWith('.js')
  return resolve(uncompiled ? request.slice(0, -'.js'.length) : request, parent, ...rest)
}

module.exports = SharingRuntime
