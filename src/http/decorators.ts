// The decorators that tsoa reads from the controllers' source. At run time they do nothing, so only their types are tsoa's: all of
// '@tsoa/runtime' would load validators and templates that nothing uses.
import type * as tsoa from '@tsoa/runtime'

const inert = () => () => undefined

export const Body: typeof tsoa.Body = inert
export const Delete: typeof tsoa.Delete = inert
export const Extension: typeof tsoa.Extension = inert
export const Get: typeof tsoa.Get = inert
export const Header: typeof tsoa.Header = inert
export const Patch: typeof tsoa.Patch = inert
export const Path: typeof tsoa.Path = inert
export const Post: typeof tsoa.Post = inert
export const Produces: typeof tsoa.Produces = inert
export const Put: typeof tsoa.Put = inert
export const Query: typeof tsoa.Query = inert
export const Response: typeof tsoa.Response = inert
export const Route: typeof tsoa.Route = inert
export const Security: typeof tsoa.Security = inert
export const SuccessResponse: typeof tsoa.SuccessResponse = inert
export const Tags: typeof tsoa.Tags = inert
