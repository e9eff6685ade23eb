// What a form needs of openapi/rapi.json: the body of one request, or a schema by its name, with what it refers to in its place.
const { readFileSync } = require('node:fs')
const path = require('node:path')

const FILE = path.join(__dirname, '../openapi/rapi.json')
const PREFIX = 'openapi:'

/** Parameters of every opcode, which no form shows. */
const COMMON = new Set(['dry_run', 'debug_level', 'priority', 'depends', 'comment', 'reason'])

let document

/** `openapi:PATCH /3/instances/{name}`, or `openapi:#HypervisorParameters`. */
function schemaOf(module) {
  document ??= JSON.parse(readFileSync(FILE, 'utf8'))
  const wanted = module.slice(PREFIX.length)
  return wanted.startsWith('#') ? named(wanted.slice(1)) : bodyOf(wanted)
}

function named(name) {
  const schema = document.components.schemas[name]
  if (schema === undefined) throw new Error(`openapi/rapi.json has no schema ${name}`)
  return whole(schema)
}

function bodyOf(request) {
  const [method, path] = request.split(' ')
  const body = document.paths[path]?.[method.toLowerCase()]?.requestBody
  if (body === undefined) throw new Error(`openapi/rapi.json has no request ${request} with a body`)
  const { properties = {}, required = [] } = whole(body.content['application/json'].schema)
  const own = Object.entries(properties).filter(([name]) => !COMMON.has(name))
  return { properties: Object.fromEntries(own), required }
}

function whole(schema) {
  if (Array.isArray(schema)) return schema.map(whole)
  if (typeof schema !== 'object' || schema === null) return schema
  if (typeof schema.$ref === 'string') {
    const found = schema.$ref
      .replace('#/', '')
      .split('/')
      .reduce((part, name) => part[name], document)
    return whole(found)
  }
  return Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, whole(part)]))
}

module.exports = { FILE, PREFIX, schemaOf }
