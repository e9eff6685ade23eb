// Made by ui/openapi.mjs: the body of one request, or a schema of the document.
declare module 'openapi:*' {
  export const schema: import('./schema').BodySchema
}
