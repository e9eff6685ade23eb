// Who may import whom. `npm run lint` checks it, editors show it, and `npm run map` draws it. A layer may import itself and what its line
// names. The longest fitting path decides, so a folder or file within a layer can have a line of its own.
const { documents } = require('./tsoa.json')

const TABLES = ['opcodes', 'query', 'rpc', 'config', 'model', 'lib']
const FOR_ALLOCATION = ['config', 'opcodes', 'model', 'lib']
const FOR_DAEMONS = ['roles', 'opcodes', 'query', 'rpc', 'model', 'lib']
/** Daemons that serve HTTP, each with its own table of routes. */
const HTTP_DAEMONS = Object.keys(documents)

/** The product, from the lowest layer to the highest. */
const LAYERS = {
  lib: [],
  model: ['lib'],
  roles: ['model', 'lib'],
  opcodes: ['model', 'lib'],
  config: ['opcodes', 'model', 'lib'],
  'config/store.ts': ['config', 'rpc', 'opcodes', 'model', 'lib'],
  http: ['model/limits/http', 'lib'],
  rpc: ['opcodes', 'config', 'model', 'lib'],
  query: TABLES,
  jobs: TABLES,
  'jobs/scheduler.ts': ['jobs', 'rpc/luxi/calls', 'config', 'opcodes', 'model', 'lib'],
  locks: ['config', 'opcodes', 'model', 'lib'],
  'allocation/model': FOR_ALLOCATION,
  'allocation/sources': [...FOR_ALLOCATION, 'allocation/model'],
  'allocation/places': [...FOR_ALLOCATION, 'allocation/model'],
  'allocation/balance': [...FOR_ALLOCATION, 'allocation/model'],
  'allocation/explain': [...FOR_ALLOCATION, 'allocation/model', 'allocation/places', 'allocation/balance'],
  'allocation/evacuation': [
    ...FOR_ALLOCATION,
    ...['model', 'places', 'balance', 'explain'].map((part) => `allocation/${part}`),
  ],
  'allocation/questions': [...FOR_ALLOCATION, 'allocation'],
  maintenance: ['allocation', 'rpc', 'config', 'opcodes', 'model', 'lib'],
  node: ['roles', 'opcodes', 'rpc', 'config/ssconf', 'config/journal', 'config/copy-status', 'model', 'lib'],
  collectors: ['roles', 'opcodes', 'rpc', 'config/ssconf', 'config/journal', 'model', 'lib'],
  operations: ['roles', ...TABLES, 'allocation'],
  services: [...TABLES, 'jobs', 'allocation'],
  replication: ['rpc', 'config', 'model', 'lib'],
  bootstrap: ['roles', 'replication', 'jobs', 'rpc', 'config', 'opcodes', 'model', 'lib'],
  // Every daemon; those below have more.
  daemons: FOR_DAEMONS,
  ...Object.fromEntries(
    HTTP_DAEMONS.map((name) => [`daemons/${name}`, [...FOR_DAEMONS, 'http', `generated/${name}-routes`]]),
  ),
  'daemons/luxid': [...FOR_DAEMONS, 'services', 'bootstrap', 'jobs', 'config'],
  'daemons/wconfd': [...FOR_DAEMONS, 'replication', 'config', 'locks'],
  'daemons/noded': [...FOR_DAEMONS, 'replication', 'node'],
  'daemons/supervisor': [...FOR_DAEMONS, 'bootstrap', 'node'],
  'daemons/sim': [...FOR_DAEMONS, 'config'],
  'daemons/confd': [...FOR_DAEMONS, 'config'],
  'daemons/rapi': [...FOR_DAEMONS, 'http', 'generated'],
  'daemons/mond': [...FOR_DAEMONS, 'http', 'generated/mond-routes', 'collectors'],
  'daemons/maintd': [...FOR_DAEMONS, 'http', 'generated/maintd-routes', 'maintenance'],
  generated: [],
  'generated/rapi-pages.ts': ['daemons/rapi', 'http', 'generated/resource-views'],
  ...Object.fromEntries(
    HTTP_DAEMONS.map((name) => [`generated/${name}-routes.ts`, [`daemons/${name}`, `generated/${name}-pages`, 'http']]),
  ),
  cli: [...FOR_DAEMONS, 'generated', 'bootstrap', 'allocation', 'maintenance', 'collectors'],
}
/** Programs, and what puts the parts together. */
const WIRING = [
  ...['main.ts', 'gnt.ts', 'job.ts', 'htools.ts', 'watcher.ts', 'allocation-thread.ts', 'maintenance-thread.ts'],
  ...['start', 'embedded'],
]

/** The console, from the lowest layer to the highest. */
const CONSOLE = {
  'texts.ts': ['texts'],
  texts: ['texts.ts'],
  icons: [],
  format: ['texts', 'texts.ts'],
  api: ['texts', 'texts.ts'],
  forms: ['icons', 'format', 'api', 'texts', 'texts.ts'],
  parts: ['icons', 'forms', 'format', 'api', 'texts', 'texts.ts'],
  pages: ['icons', 'parts', 'forms', 'format', 'api', 'texts', 'texts.ts'],
  app: ['icons', 'pages', 'parts', 'forms', 'format', 'api', 'texts', 'texts.ts'],
  'main.tsx': ['app', 'api'],
}

const escaped = (text) => text.replaceAll('.', '\\.')
/** Matches a folder with all in it, or a file. */
const within = (root, layer) => `^${root}/${escaped(layer)}(\\.ts$|/|$)`

/** A rule for each layer: it must not import what is neither itself nor in its line. */
const rulesOf = (root, layers) =>
  Object.entries(layers).map(([layer, allowed]) => ({
    name: `${root}/${layer}`,
    comment: `It may import ${allowed.length === 0 ? 'only itself' : allowed.join(', ')}.`,
    severity: 'error',
    from: {
      path: within(root, layer),
      pathNot: Object.keys(layers)
        .filter((other) => other.startsWith(`${layer}/`))
        .map((other) => within(root, other)),
    },
    to: { path: `^${root}/`, pathNot: [layer, ...allowed].map((one) => within(root, one)) },
  }))

module.exports = {
  forbidden: [
    {
      name: 'circle',
      comment: 'Move what the two share to a file of its own.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no layer',
      comment: 'Give the new folder a line in .dependency-cruiser.cjs.',
      severity: 'error',
      from: { path: '^src/', pathNot: [...Object.keys(LAYERS), ...WIRING].map((one) => within('src', one)) },
      to: {},
    },
    ...rulesOf('src', LAYERS),
    ...rulesOf('ui/src', CONSOLE),
    {
      name: 'the console has the product only through its API',
      severity: 'error',
      from: { path: '^ui/src/' },
      to: { path: '^(src|test|scripts)/' },
    },
    {
      name: 'the product needs no test',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|ui|scripts)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    // Types come from the code; generated declarations need nobody.
    exclude: { path: '(^|/)ui/src/api/schema\\.d\\.ts$' },
  },
}
