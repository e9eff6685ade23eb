// Requests of /2 about instances' disks.
import { Body, Path, Post, Put, Query, Route, Security, Tags } from '../../../http/decorators'
import type {
  InstanceGrowDiskParams,
  InstanceRecreateDisksParams,
  InstanceReplaceDisksParams,
} from '../../../generated/opcode-params'
import {
  OpInstanceActivateDisks,
  OpInstanceDeactivateDisks,
  OpInstanceGrowDisk,
  OpInstanceRecreateDisks,
  OpInstanceReplaceDisks,
} from '../../../opcodes/instance'
import type { JobId } from '../../../rpc/luxi/calls'
import { replaceDisksBody } from '../instance-bodies'
import { Resource } from './resource'

@Route('2/instances')
@Tags('instances')
export class InstanceDisksController extends Resource {
  /** Makes the instance's disks available on its nodes. */
  @Put('{name}/activate-disks')
  @Security('basic', ['write'])
  activate(@Path() name: string, @Query('ignore_size') ignoreSize = 0): Promise<JobId> {
    const statics = { instance_name: name, ignore_size: ignoreSize !== 0 }
    return this.submit(OpInstanceActivateDisks, this.onlyDepends(), statics)
  }

  /** Shuts the instance's disks down on its nodes. */
  @Put('{name}/deactivate-disks')
  @Security('basic', ['write'])
  deactivate(@Path() name: string, @Query() force = 0): Promise<JobId> {
    return this.submit(OpInstanceDeactivateDisks, this.onlyDepends(), { instance_name: name, force: force !== 0 })
  }

  /** Enlarges one disk. */
  @Post('{name}/disk/{index}/grow')
  @Security('basic', ['write'])
  grow(@Path() name: string, @Path() index: number, @Body() body: InstanceGrowDiskParams): Promise<JobId> {
    return this.submit(OpInstanceGrowDisk, body, { instance_name: name, disk: index })
  }

  /** Builds missing disks again. */
  @Post('{name}/recreate-disks')
  @Security('basic', ['write'])
  recreate(@Path() name: string, @Body() body?: InstanceRecreateDisksParams): Promise<JobId> {
    return this.submit(OpInstanceRecreateDisks, body, { instance_name: name })
  }

  /** Replaces DRBD disks or the secondary node. */
  @Post('{name}/replace-disks')
  @Security('basic', ['write'])
  replace(
    @Path() name: string,
    @Query() mode?: string,
    @Query() disks?: string,
    @Query('remote_node') remoteNode?: string,
    @Query() iallocator?: string,
    @Body() body?: InstanceReplaceDisksParams,
  ): Promise<JobId> {
    const input = { mode, disks, remote_node: remoteNode, iallocator }
    return this.submit(OpInstanceReplaceDisks, replaceDisksBody(body, input), { instance_name: name })
  }
}
