// A role, a collector, a disk template with children and a hypervisor are added to a copy of the product, each by touching only the
// places that its recipe in CONTRIBUTING.md names; then the copy compiles, and knows them. A door over HTTP is in unit/http/door.test.ts.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { answerOf, mistakes } from './support/overlay'
import { root } from './support/source-tree'

interface Addition {
  /** The heading of its recipe. */
  readonly recipe: string
  /** In each of these files, a text and what comes behind it. */
  readonly lines: Readonly<Record<string, readonly (readonly [behind: string, added: string])[]>>
  /** New files, and the doubles that they are made from. */
  readonly files: Readonly<Record<string, string>>
}

const ADDITIONS: Readonly<Record<string, Addition>> = {
  tickd: {
    recipe: 'A daemon',
    lines: {
      'src/roles/table.ts': [
        [
          'export const ROLES = [\n',
          "{ name: 'tickd', program: 'ganeti-tickd', text: 'ticks', place: 'node', user: USER.noded, log: 'tick', options: [] },",
        ],
      ],
      'src/main.ts': [
        [
          'const starts: Record<RoleName, () => Promise<Start>> = {',
          "tickd: async () => (await import('./start/tickd.js')).start,",
        ],
      ],
    },
    files: { 'src/start/tickd.ts': 'tickd.ts' },
  },
  pulse: {
    recipe: 'A collector of monitoring data',
    lines: {
      'src/model/constants/collectors.ts': [['const OWN_COLLECTORS = [', "'pulse',"]],
      'src/collectors/registry.ts': [
        ["import type { Collector } from './report'\n", "import { pulse } from './node/pulse'\n"],
        ['export const COLLECTORS: readonly Collector[] = [', 'pulse,'],
      ],
    },
    files: { 'src/collectors/node/pulse.ts': 'pulse.ts' },
  },
  twin: {
    recipe: 'A disk template',
    lines: {
      'src/model/templates.ts': [
        ['export const TEMPLATES = {', "twin: { storage: 'blockdev', mirror: 'inside', params: {} },"],
      ],
      'src/node/storage/registry.ts': [
        ["import { fileDriver } from './file'\n", "import { twinDriver } from './twin'\n"],
        ['DriverFactory>> = {', 'twin: twinDriver,'],
      ],
    },
    files: { 'src/node/storage/twin.ts': 'twin-driver.ts' },
  },
  still: {
    recipe: 'A hypervisor',
    lines: {
      'src/model/constants/hypervisors.ts': [['const PARAMS = {', 'still: {},']],
      'src/node/hypervisor/index.ts': [
        ["import { HypervisorFailure } from './hypervisor'\n", "import { stillHypervisor } from './still'\n"],
        ['HypervisorContext) => Hypervisor>> = {', 'still: stillHypervisor,'],
      ],
    },
    files: { 'src/node/hypervisor/still.ts': 'still-hypervisor.ts' },
  },
}

const textOf = (name: string): string => fs.readFileSync(path.join(root, name), 'utf8')

const overlay = new Map(
  Object.values(ADDITIONS).flatMap(({ lines, files }) => [
    ...Object.entries(lines).map(([name, added]) => [name, added.reduce(addBehind, textOf(name))] as const),
    ...Object.entries(files).map(([name, double]) => [name, moved(double, name)] as const),
  ]),
)

function addBehind(text: string, [behind, added]: readonly [string, string]): string {
  expect(text.split(behind)).toHaveLength(2)
  return text.replace(behind, (found) => found + added)
}

/** A double's text, with its imports as they are from its new place. */
function moved(double: string, name: string): string {
  return textOf(`test/support/doubles/${double}`).replaceAll(/'(?:\.\.\/){3}(src\/[^']*)'/g, (_, file: string) => {
    const from = path.posix.relative(path.posix.dirname(name), file)
    return `'${from.startsWith('.') ? from : `./${from}`}'`
  })
}

const recipes = new Map(
  textOf('CONTRIBUTING.md')
    .split(/^### /m)
    .map((section) => [section.slice(0, section.indexOf('\n')), section]),
)

test.each(Object.entries(ADDITIONS))(
  '%s is added in the places that its recipe names',
  (_, { recipe, lines, files }) => {
    const named = [...(recipes.get(recipe) ?? '').matchAll(/`(src\/[^`]*)`/g)].map(([, place = '']) => place)
    const fits = (place: string) => (name: string) =>
      new RegExp(
        `^${place.replaceAll('.', '\\.').replaceAll(/<\w+>/g, '[\\w-]+')}${place.endsWith('/') ? '' : '$'}`,
      ).test(name)
    for (const name of [...Object.keys(lines), ...Object.keys(files)])
      expect(named.filter((place) => fits(place)(name))).not.toEqual([])
  },
)

test('the product compiles with them', () => {
  expect(mistakes(overlay)).toEqual([])
})

test('it knows them where it knows the others', async () => {
  const known = await answerOf(
    overlay,
    `
    import { COLLECTORS } from './src/collectors/registry'
    import { IPOLICY_DEFAULTS } from './src/model/constants/params'
    import { hypervisorsOf } from './src/node/hypervisor/index'
    import { DRIVERS } from './src/node/storage/registry'
    import { diskTemplate, hypervisor } from './src/opcodes/types'
    import { usage } from './src/roles/help'
    import { inOrder } from './src/roles/role'
    import { ROLES } from './src/roles/table'

    process.stdout.write(JSON.stringify({
      role: [usage().includes('ticks (every node)'), inOrder(ROLES).some(({ name }) => name === 'tickd')],
      collector: COLLECTORS.map(({ name }) => name).includes('pulse'),
      template: [
        diskTemplate.schema.enum.includes('twin'),
        IPOLICY_DEFAULTS['disk-templates'].includes('twin'),
        DRIVERS.twin !== undefined,
      ],
      hypervisor: [
        hypervisor.schema.enum.includes('still'),
        hypervisorsOf({ paths: { local: (path) => path } })('still').name,
      ],
    }))
    `,
  )
  expect(known).toEqual({
    role: [true, true],
    collector: true,
    template: [true, true, true],
    hypervisor: [true, 'still'],
  })
})
