// ui/openapi.mjs makes these modules: the body of a request, or a schema of the document.
declare module 'openapi:*' {
  export const schema: import('./schema').BodySchema
}
