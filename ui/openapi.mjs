// `import { schema } from 'openapi:PATCH /3/instances/{name}'` is what the body of that request may have, and no more of the document: so a
// page loads the schemas of its own requests only. `openapi:#HypervisorParameters` is a schema by its name.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const FILE = fileURLToPath(new URL('../openapi/rapi.json', import.meta.url))
const PREFIX = 'openapi:'

/** Parameters of every opcode, which no form shows. */
const COMMON = new Set(['dry_run', 'debug_level', 'priority', 'depends', 'comment', 'reason'])

export function openapi() {
  let document
  return {
    name: 'openapi',
    resolveId: (id) => (id.startsWith(PREFIX) ? `\0${id}` : undefined),
    load(id) {
      if (!id.startsWith(`\0${PREFIX}`)) return undefined
      this.addWatchFile(FILE)
      document ??= JSON.parse(readFileSync(FILE, 'utf8'))
      const wanted = id.slice(PREFIX.length + 1)
      const schema = wanted.startsWith('#')
        ? whole(document, document.components.schemas[wanted.slice(1)])
        : bodyOf(document, wanted)
      return `export const schema = ${JSON.stringify(schema)}`
    },
  }
}

function bodyOf(document, request) {
  const [method, path] = request.split(' ')
  const body = document.paths[path]?.[method.toLowerCase()]?.requestBody
  if (body === undefined) throw new Error(`openapi/rapi.json has no request ${request} with a body`)
  const { properties = {}, required = [] } = whole(document, body.content['application/json'].schema)
  const own = Object.entries(properties).filter(([name]) => !COMMON.has(name))
  return { properties: Object.fromEntries(own), required }
}

/** With what it refers to in its place. */
function whole(document, schema) {
  if (Array.isArray(schema)) return schema.map((part) => whole(document, part))
  if (typeof schema !== 'object' || schema === null) return schema
  if (typeof schema.$ref === 'string') {
    const found = schema.$ref
      .replace('#/', '')
      .split('/')
      .reduce((part, name) => part[name], document)
    return whole(document, found)
  }
  return Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, whole(document, part)]))
}
