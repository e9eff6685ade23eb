// The environment of test files: the global scope of their worker. Jest's own environment gives each file a separate scope, in which all of
// src/ would have to be loaded again, and in which access to global variables is ten times slower. When a file ends, its changes of the
// scope are undone.
const { ModernFakeTimers } = require('@jest/fake-timers')
const { ModuleMocker } = require('jest-mock')

/** Packages stay loaded, and keep their data under symbols. The symbols of Jest are in capitals, and belong to one test file. */
const ofPackage = (name) => typeof name === 'symbol' && !/^[A-Z_]+$/.test(name.description ?? '')

class OneScope {
  global = globalThis
  moduleMocker = new ModuleMocker(globalThis)

  constructor({ projectConfig }) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis })
    this.before = {
      globals: Object.getOwnPropertyDescriptors(globalThis),
      environment: { ...process.env },
      exit: process.exit,
      folder: process.cwd(),
    }
  }

  async setup() {}

  async teardown() {
    this.fakeTimersModern.dispose()
    const { globals, environment, exit, folder } = this.before
    for (const name of Reflect.ownKeys(globalThis))
      if (!Object.hasOwn(globals, name) && !ofPackage(name)) delete globalThis[name]
    for (const name of Reflect.ownKeys(globals)) {
      const now = Object.getOwnPropertyDescriptor(globalThis, name)
      if (globals[name].configurable && now?.value !== globals[name].value)
        Object.defineProperty(globalThis, name, globals[name])
    }
    for (const name of Object.keys(process.env)) if (!Object.hasOwn(environment, name)) delete process.env[name]
    Object.assign(process.env, environment)
    process.exit = exit
    if (process.cwd() !== folder) process.chdir(folder)
  }

  exportConditions() {
    return ['node', 'node-addons']
  }

  /** Jest only checks whether this exists. scripts/jest-runtime.cjs compiles for the worker's own scope. */
  getVmContext() {
    return globalThis
  }
}

module.exports = OneScope
