// Where test files run: in the global scope of their worker itself. Jest's own environment gives each file another one, in which all of
// src/ would have to be loaded again, and whose global variables answer ten times as slowly. What a file left behind in the scope is
// taken back when it ends.
const { ModernFakeTimers } = require('@jest/fake-timers')
const { ModuleMocker } = require('jest-mock')

/** Packages, which stay loaded, keep theirs under symbols; Jest's symbols are in capitals, and what they name is of one file. */
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

  /** Only asked for whether there is one: scripts/jest-runtime.cjs compiles for the scope of the worker. */
  getVmContext() {
    return globalThis
  }
}

module.exports = OneScope
