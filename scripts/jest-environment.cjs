// The environment of test files: the global scope of their worker. Jest's own environment gives each file a separate scope, in which all of
// src/ would have to be loaded again, and in which access to global variables is ten times slower. When a file ends, its changes of the
// scope are undone.
const { ModernFakeTimers } = require('@jest/fake-timers')
const { ModuleMocker } = require('jest-mock')

/** Packages stay loaded, and keep their data under symbols. The symbols of Jest are in capitals, and belong to one test file. */
const ofPackage = (name) => typeof name === 'symbol' && !/^[A-Z_]+$/.test(name.description ?? '')

/** Servers, sockets, timers and children keep a process alive; its own pipes and files do not. */
const held = () =>
  process.getActiveResourcesInfo().filter((kind) => !/^(PipeWrap|TTYWrap|FSReq.*|Immediate)$/.test(kind))

/** Returns the kinds that are held beyond `before`, when nothing more ends by itself. */
async function left(before, patience_s) {
  const nextTurn = globalThis.setImmediate
  const end_ms = Date.now() + patience_s * 1000
  for (;;) {
    const now = held()
    for (const kind of before) if (now.includes(kind)) now.splice(now.indexOf(kind), 1)
    if (now.length === 0 || Date.now() > end_ms) return now
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => nextTurn(resolve))
  }
}

/** Other files wait for whole clusters, so the output only tells what they leave. */
const MUST_LEAVE_NOTHING = /\/test\/(unit|processes)\//

class OneScope {
  global = globalThis
  moduleMocker = new ModuleMocker(globalThis)
  /** How long a file's connections and timers may take to end. */
  patience_s = 30

  constructor({ projectConfig }, { testPath }) {
    this.testPath = testPath
    this.held = held()
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
    const kinds = await left(this.held, this.patience_s)
    if (kinds.length === 0) return
    const text = `${this.testPath} leaves something that keeps its process alive: ${kinds.join(', ')}`
    if (MUST_LEAVE_NOTHING.test(this.testPath)) throw new Error(text)
    process.stderr.write(`${text}\n`)
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
