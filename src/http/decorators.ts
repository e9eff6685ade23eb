// The decorators that tsoa reads from the controllers' source; at run time they do nothing. They are imported one by one, because '@tsoa/runtime' as
// a whole loads validators and templates that nobody here needs.
export { Extension } from '@tsoa/runtime/dist/decorators/extension'
export { Delete, Get, Patch, Post, Put } from '@tsoa/runtime/dist/decorators/methods'
export { Body, Header, Path, Query } from '@tsoa/runtime/dist/decorators/parameter'
export { Produces, Response, SuccessResponse } from '@tsoa/runtime/dist/decorators/response'
export { Route } from '@tsoa/runtime/dist/decorators/route'
export { Security } from '@tsoa/runtime/dist/decorators/security'
export { Tags } from '@tsoa/runtime/dist/decorators/tags'
