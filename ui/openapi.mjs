// `import { schema } from 'openapi:PATCH /3/instances/{name}'` is what the body of that request may have, and no more of the document: so a
// page loads the schemas of its own requests only. `openapi:#HypervisorParameters` is a schema by its name.
import { FILE, PREFIX, schemaOf } from './openapi-schemas.cjs'

export function openapi() {
  return {
    name: 'openapi',
    resolveId: (id) => (id.startsWith(PREFIX) ? `\0${id}` : undefined),
    load(id) {
      if (!id.startsWith(`\0${PREFIX}`)) return undefined
      this.addWatchFile(FILE)
      return `export const schema = ${JSON.stringify(schemaOf(id.slice(1)))}`
    },
  }
}
