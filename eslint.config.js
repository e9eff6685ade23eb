// What a linter can tell from one file. Rules between files (who may import whom, dead files, names) are in
// .dependency-cruiser.cjs, knip.json and test/tidy.test.ts; layout is prettier's.
const tseslint = require('typescript-eslint')
const limits = require('./scripts/style-limits.json')

const noDefaultExport = {
  selector: 'ExportDefaultDeclaration, ExportSpecifier[exported.name="default"]',
  message: 'Export by name: a default export is called differently by every importer.',
}

module.exports = tseslint.config(
  {
    ignores: [
      'dist/',
      'ui/dist/',
      'ui/src/api/schema.d.ts',
      'coverage/',
      'openapi/',
      'src/generated/',
      'test/golden/',
      'test/data/',
    ],
  },
  {
    files: ['src/**/*.ts', 'test/**/*.ts', 'scripts/**/*.ts', 'ui/**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: __dirname } },
    linterOptions: { noInlineConfig: true },
    rules: {
      eqeqeq: 'error',
      'no-restricted-syntax': ['error', noDefaultExport],
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      // A module that is needed rarely is loaded when it is first needed.
      '@typescript-eslint/no-require-imports': ['error', { allow: ['^\\./', '^(re2js|router)$'] }],
      '@typescript-eslint/only-throw-error': ['error', { allowThrowingUnknown: true }],
      '@typescript-eslint/prefer-promise-reject-errors': ['error', { allowThrowingUnknown: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      // The compiler says it (noUnusedLocals, noUnusedParameters).
      '@typescript-eslint/no-unused-vars': 'off',
      // An async function without await is how an interface of promises is implemented by something immediate.
      '@typescript-eslint/require-await': 'off',
      // `void promise` marks a promise that nobody waits for, whatever its type.
      '@typescript-eslint/no-meaningless-void-operator': 'off',
      // Callbacks without a result are declared with `void` in unions of answers.
      '@typescript-eslint/no-invalid-void-type': 'off',
      // `return reject(error)` leaves a callback and says why in one line.
      '@typescript-eslint/no-confusing-void-expression': 'off',
      // What came over a wire has the type that it should have; looking whether it does is no needless condition.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      // Names, numbers and hexadecimal digits are spread, no emojis.
      '@typescript-eslint/no-misused-spread': 'off',
      // A type parameter that is used once still names what the caller gets.
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      // What a client sent is shown as it is, whatever it is.
      '@typescript-eslint/no-base-to-string': 'off',
      // Parameters are dictionaries keyed by their names; a copy loses those that go back to their default.
      '@typescript-eslint/no-dynamic-delete': 'off',
      // Lists and dictionaries of unknown things are any[] to the compiler; using what is in them is what other rules forbid.
      '@typescript-eslint/no-unsafe-assignment': 'off',
      // A walk along a chain begins at oneself.
      '@typescript-eslint/no-this-alias': 'off',
      // Methods are handed on with their object by the wrappers that take them.
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    files: ['src/**/*.ts'],
    rules: {
      'no-console': 'error',
      'max-lines': ['error', { max: limits.file_lines }],
      'max-lines-per-function': ['error', { max: limits.function_lines, IIFEs: true }],
    },
  },
  // A page is a function that says all that it shows.
  { files: ['ui/**/*.{ts,tsx}'], rules: { 'max-lines': ['error', { max: limits.file_lines }] } },
  { files: ['src/lib/**/*.ts'], rules: { '@typescript-eslint/no-non-null-assertion': 'off' } },
  // What these print is their product: a person reads it.
  { files: ['src/cli/**/*.ts', 'src/embedded/**/*.ts'], rules: { 'no-console': 'off' } },
  // A table is as long as what it lists.
  { files: limits.tables.map((path) => (path.endsWith('/') ? `${path}**` : path)), rules: { 'max-lines': 'off' } },
  {
    // Tests read recordings, whose shape is what the test is about; scripts read files that they wrote.
    files: ['test/**/*.ts', 'scripts/**/*.ts'],
    rules: {
      '@typescript-eslint/only-throw-error': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
    },
  },
  {
    files: ['**/*.js', '**/*.cjs', '**/*.mjs'],
    rules: { eqeqeq: 'error', 'no-var': 'error', 'prefer-const': 'error' },
  },
)
