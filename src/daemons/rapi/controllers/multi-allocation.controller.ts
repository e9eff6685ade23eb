// Requests of /2 about the allocation of several instances at once.
import { Body, Post, Query, Route, Security, Tags } from '../../../http/decorators'
import type { InstanceMultiAllocParams } from '../../../generated/opcode-params'
import { isObject } from '../../../lib/shapes/shape'
import { OpInstanceCreate, OpInstanceMultiAlloc } from '../../../opcodes/instance'
import type { JobId } from '../../../rpc/luxi/calls'
import { badRequest } from '../../../http/errors'
import { fillFromBody, wrongType } from '../fill'
import { Resource } from './resource'

@Route('2/instances-multi-alloc')
@Tags('instances')
export class MultiAllocationController extends Resource {
  /** Finds nodes for several instances at once, and creates them. */
  @Post('')
  @Security('basic', ['write'])
  create(@Body() body: InstanceMultiAllocParams, @Query('dry-run') dryRun = 0): Promise<JobId> {
    if (!isObject(body) || !Object.hasOwn(body, 'instances'))
      throw badRequest("Request is missing required 'instances' field in body")
    const { instances } = body
    if (!Array.isArray(instances)) throw wrongType("'instances' parameter", instances, 'list')
    const renames = { os: 'os_type', name: 'instance_name' }
    const filled = instances.map((instance: unknown) => fillFromBody(OpInstanceCreate, instance, {}, renames))
    return this.submit(OpInstanceMultiAlloc, { ...body, instances: filled }, { dry_run: dryRun !== 0 })
  }
}
