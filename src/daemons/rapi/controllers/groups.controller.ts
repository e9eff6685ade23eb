// Requests of /2 about node groups.
import { Body, Delete, Get, Path, Post, Put, Query, Route, Security, Tags } from '../../../http/decorators'
import type {
  GroupAddParams,
  GroupAssignNodesParams,
  GroupRenameParams,
  GroupSetParams,
} from '../../../generated/opcode-params'
import type { GroupObject } from '../../../generated/resource-views'
import { OpGroupAdd, OpGroupAssignNodes, OpGroupRemove, OpGroupRename, OpGroupSetParams } from '../../../opcodes/group'
import type { JobId } from '../../../rpc/luxi/calls'
import { GROUP_FIELDS } from '../fields'
import { Needs } from '../read-permission'
import { type NameLink, nameLinks, oneRow, Resource, rowObject } from './resource'

@Route('2/groups')
@Tags('groups')
export class GroupsController extends Resource {
  /** Node groups: names, or with `bulk` everything. */
  @Get('')
  @Needs('groups.list')
  async list(@Query() bulk = 0): Promise<NameLink[] | GroupObject[]> {
    if (bulk === 0) return nameLinks(await this.master.queryGroups([], ['name'], false), '/2/groups')
    const rows = await this.master.queryGroups([], GROUP_FIELDS, false)
    return rows.map((row) => rowObject<GroupObject>(GROUP_FIELDS, row))
  }

  /** Creates a node group. */
  @Post('')
  @Security('basic', ['write'])
  create(@Body() body: GroupAddParams, @Query('dry-run') dryRun = 0): Promise<JobId> {
    return this.submit(OpGroupAdd, body, { dry_run: dryRun !== 0 }, { name: 'group_name' })
  }

  /** One node group. */
  @Get('{name}')
  @Needs('groups.query')
  async get(@Path() name: string, @Query() lock = 0): Promise<GroupObject> {
    return rowObject(GROUP_FIELDS, await oneRow(this.master.queryGroups([name], GROUP_FIELDS, lock !== 0)))
  }

  /** Removes an empty node group. */
  @Delete('{name}')
  @Security('basic', ['write'])
  remove(@Path() name: string, @Query('dry-run') dryRun = 0): Promise<JobId> {
    return this.submit(OpGroupRemove, this.onlyDepends(), { group_name: name, dry_run: dryRun !== 0 })
  }

  /** Moves nodes into the group. */
  @Put('{name}/assign-nodes')
  @Security('basic', ['write'])
  assignNodes(
    @Path() name: string,
    @Body() body: GroupAssignNodesParams,
    @Query('dry-run') dryRun = 0,
    @Query() force = 0,
  ): Promise<JobId> {
    const statics = { group_name: name, dry_run: dryRun !== 0, force: force !== 0 }
    return this.submit(OpGroupAssignNodes, body, statics)
  }

  /** Changes settings of the group. */
  @Put('{name}/modify')
  @Security('basic', ['write'])
  modify(@Path() name: string, @Body() body?: GroupSetParams): Promise<JobId> {
    return this.submit(OpGroupSetParams, body, { group_name: name }, CUSTOM)
  }

  /** Renames the group. */
  @Put('{name}/rename')
  @Security('basic', ['write'])
  rename(@Path() name: string, @Body() body: GroupRenameParams, @Query('dry-run') dryRun = 0): Promise<JobId> {
    return this.submit(OpGroupRename, body, { group_name: name, dry_run: dryRun !== 0 })
  }

  /** Tags of the group. */
  @Get('{name}/tags')
  @Needs('tags.get')
  tags(@Path() name: string): Promise<string[]> {
    return this.master.queryTags('nodegroup', name)
  }

  /** Adds tags to the group. */
  @Put('{name}/tags')
  @Security('basic', ['write'])
  addTags(@Path() name: string, @Query() tag: string[] = [], @Query('dry-run') dryRun = 0): Promise<JobId> {
    return this.setTags('nodegroup', name, tag, dryRun)
  }

  /** Removes tags from the group. */
  @Delete('{name}/tags')
  @Security('basic', ['write'])
  removeTags(@Path() name: string, @Query() tag: string[] = [], @Query('dry-run') dryRun = 0): Promise<JobId> {
    return this.deleteTags('nodegroup', name, tag, dryRun)
  }
}

/** Groups show these values under the first name. They are set under the second one. */
const CUSTOM = { custom_ndparams: 'ndparams', custom_ipolicy: 'ipolicy', custom_diskparams: 'diskparams' }
