// Writes the types of the remote API for the console, ui/src/api/schema.d.ts, from openapi/rapi.json. The build, the type check and lint
// call it; it does something only if the document has changed.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const document = join(root, 'openapi/rapi.json')
const target = join(root, 'ui/src/api/schema.d.ts')

const digest = createHash('sha256').update(readFileSync(document)).digest('hex')
const head = `// Made by scripts/client-types.mjs from openapi/rapi.json (${digest}); not committed.\n`
if (!existsSync(target) || !readFileSync(target, 'utf8').startsWith(head)) {
  const program = join(dirname(createRequire(import.meta.url).resolve('openapi-typescript/package.json')), 'bin/cli.js')
  const types = execFileSync(process.execPath, [program, document], { encoding: 'utf8', maxBuffer: 1 << 26 })
  // Several programs may do this at once.
  const temporary = `${target}.${process.pid}`
  writeFileSync(temporary, head + types)
  renameSync(temporary, target)
}
