// The decorators that tsoa reads from the controllers' source; at run time they do nothing. Imported one by one,
// because all of '@tsoa/runtime' would load validators and templates that we do not need.
export { Extension } from '@tsoa/runtime/dist/decorators/extension'
export { Delete, Get, Patch, Post, Put } from '@tsoa/runtime/dist/decorators/methods'
export { Body, Header, Path, Query } from '@tsoa/runtime/dist/decorators/parameter'
export { Produces, Response, SuccessResponse } from '@tsoa/runtime/dist/decorators/response'
export { Route } from '@tsoa/runtime/dist/decorators/route'
export { Security } from '@tsoa/runtime/dist/decorators/security'
export { Tags } from '@tsoa/runtime/dist/decorators/tags'
