// The rules for documents: what they name exists, each says first what it is for, an index leads to each, and none is too long.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { scripts } from '../package.json'
import { projectFiles, root } from './support/source-tree'

/** In bytes. A document that grows beyond this moves a part to docs/, and links to it. */
const LONGEST: Readonly<Record<string, number>> = { 'ARCHITECTURE.md': 12_000, 'CONTRIBUTING.md': 10_000 }
const LONGEST_RECORD = 2_000

const documents = projectFiles()
  .filter((name) => /^([A-Z]+|docs\/.*)\.md$/.test(name))
  .map((name) => ({ name, text: fs.readFileSync(path.join(root, name), 'utf8') }))
const below = (folder: string) =>
  documents.filter(({ name }) => path.dirname(name) === folder && path.basename(name) !== 'README.md')
const textOf = (name: string): string => documents.find((document) => document.name === name)?.text ?? ''
const exists = (name: string): boolean => fs.existsSync(path.join(root, name))

test('the documents name files that exist', () => {
  const placesOf = (file: string, folder: string): string[] => [file, `src/${file}`, path.join(folder, file)]
  const missing = documents.flatMap(({ name, text }) => {
    const folder = path.dirname(name)
    return [
      ...namedFiles(text).filter((file) => !placesOf(file, folder).some(exists)),
      ...linksOf(text).filter(({ file }) => file !== '' && !exists(path.join(folder, file))),
    ].map((missed) => `${name}: there is no ${typeof missed === 'string' ? missed : missed.file}`)
  })
  expect(missing).toEqual([])
})

test('the map of the code names folders that exist', () => {
  const folders = [...textOf('ARCHITECTURE.md').matchAll(/`([\w-]+(\/[\w.-]+)*)\/`/g)].map(([, folder = '']) => folder)
  expect(folders.filter((folder) => !exists(folder) && !exists(`src/${folder}`))).toEqual([])
  expect(folders.length).toBeGreaterThan(20)
})

test.each(Object.entries(LONGEST))('%s is no longer than %d bytes', (name, most) => {
  expect(Buffer.byteLength(textOf(name))).toBeLessThanOrEqual(most)
})

test('a link to a heading finds it', () => {
  const missing = documents.flatMap(({ name, text }) =>
    linksOf(text)
      .filter(({ heading }) => heading !== '')
      .filter(({ file, heading }) => {
        const target = file === '' ? name : path.join(path.dirname(name), file)
        return !headingsOf(textOf(target)).includes(heading)
      })
      .map(({ file, heading }) => `${name}: there is no heading #${heading} in ${file === '' ? name : file}`),
  )
  expect(missing).toEqual([])
})

test('the documents name commands that package.json has', () => {
  const missing = documents.flatMap(({ name, text }) =>
    [...text.matchAll(/\bnpm run ([\w:-]+)/g)]
      .filter(([, script = '']) => !Object.hasOwn(scripts, script))
      .map(([command]) => `${name}: there is no '${command}'`),
  )
  expect(missing).toEqual([])
})

test.each([
  ['docs', /^# .*\n\nYou can /],
  ['docs/architecture', /^# .*\n\nThis page explains /],
  ['docs/recipes', /^# (An? |The ).*\n\nYou can [^]*\n- \[ \] /],
  ['docs/decisions', /^# \d{3}\. .*\n\n\*\*Context:\*\* [^]*\n\n\*\*Decision:\*\* [^]*\n\n\*\*Consequence:\*\* /],
])('each document of %s says first what it is for, and README.md of its folder leads to it', (folder, beginning) => {
  const index = textOf(`${folder}/README.md`)
  const names = below(folder)
    .filter(({ name, text }) => !beginning.test(text) || !index.includes(`(${path.basename(name)})`))
    .map(({ name }) => name)
  expect(names).toEqual([])
})

test('a record of a decision has the number and the title that the index says, and is short', () => {
  const titles = below('docs/decisions').map(({ name, text }) => {
    const [, number, title] = /^# (\d{3})\. (.*)\n/.exec(text) ?? []
    return `- [${number}](${path.basename(name)}) ${title}`
  })
  expect(
    textOf('docs/decisions/README.md')
      .match(/^- .*$/gm)
      ?.sort(),
  ).toEqual(titles.sort())
  const numbers = below('docs/decisions').map(({ name }) => /(\d{3})-[a-z\d-]+\.md$/.exec(name)?.[1])
  expect(new Set(numbers).size).toBe(numbers.length)
  expect(
    below('docs/decisions')
      .filter(({ name, text }) => !text.startsWith(`# ${path.basename(name).slice(0, 3)}. `))
      .map(({ name }) => name),
  ).toEqual([])
  const long = below('docs/decisions').filter(({ text }) => Buffer.byteLength(text) > LONGEST_RECORD)
  expect(long.map(({ name }) => name)).toEqual([])
})

/** The names in code spans of a document that look like files of the project. */
function namedFiles(document: string): string[] {
  const inCode = [...document.matchAll(/`([^`\n]+)`/g)].flatMap(([, code = '']) => code.split(/\s+/))
  const isFile =
    /^(src|test|scripts|bin|openapi|os|ui|docs)\/[\w./-]+$|^[\w.-]+(\/[\w.-]+)+\.(ts|js|cjs|mjs|json|md|hbs)$/
  return inCode.map((name) => name.replace(/[,;:]$/, '')).filter((name) => isFile.test(name))
}

/** The links of a document within the project. */
function linksOf(document: string): { file: string; heading: string }[] {
  return [...document.matchAll(/\]\(([^)\s]+)\)/g)]
    .flatMap(([, target = '']) => target)
    .filter((target) => !/^\w+:/.test(target))
    .map((target) => ({ file: target.split('#')[0] ?? '', heading: target.split('#')[1] ?? '' }))
}

/** The anchors of a document's headings, as they are shown on the web. */
function headingsOf(document: string): string[] {
  return [...document.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  )
}
