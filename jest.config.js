// Times in recorded outputs are UTC.
process.env.TZ = 'UTC'
// Files that tests prepare have the same modes everywhere. What the product makes of another umask has a test of its own.
process.umask(0o022)
// Each process of Node would read all these certificates when it starts, which takes longer than all else that a start does. Tests ask
// nobody outside.
delete process.env.NODE_EXTRA_CA_CERTS
// And Python would compile all of Ganeti's modules for each of its programs.
delete process.env.PYTHONDONTWRITEBYTECODE

const nightly = process.env.NIGHTLY === '1'
if (nightly) {
  process.env.SEED ??= String(require('node:crypto').randomInt(2 ** 30))
  process.stdout.write(`This run is repeated with SEED=${process.env.SEED}.\n`)
}

const ESM_ONLY = 'node_modules/tinyqueue/'

const swc = (parser, more = {}) => ({
  jsc: { parser, transform: { legacyDecorator: true, decoratorMetadata: true, ...more }, target: 'es2023' },
  module: { type: 'commonjs' },
  sourceMaps: true,
})

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: '<rootDir>/scripts/jest-environment.cjs',
  runtime: '<rootDir>/scripts/jest-runtime.cjs',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  transform: {
    '^.+\\.ts$': ['@swc/jest', swc({ syntax: 'typescript', decorators: true })],
    '^.+\\.tsx$': ['@swc/jest', swc({ syntax: 'typescript', tsx: true }, { react: { runtime: 'automatic' } })],
    // Jest loads packages as CommonJS, and these are none.
    [ESM_ONLY]: ['@swc/jest', swc({ syntax: 'ecmascript' })],
  },
  transformIgnorePatterns: [`node_modules/(?!${ESM_ONLY.split('/')[1]}/)`],
  // Modules that are loaded on demand are named with the extension that it has after the build.
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  setupFilesAfterEnv: ['<rootDir>/test/support/one-process.ts'],
  testSequencer: '<rootDir>/scripts/slowest-first.cjs',
  reporters: ['default', '<rootDir>/scripts/closing-line.cjs'],
  // Two more than a small machine has processors: tests of whole clusters often wait.
  maxWorkers: 4,
  // How long a test takes depends on what else the machine does; the limit is only there to end one that hangs.
  testTimeout: nightly ? 7_200_000 : 600_000,
}
