// Requests of /2 about nodes.
import { Body, Delete, Get, Path, Post, Put, Query, Route, Security, Tags } from '../../../http/decorators'
import type {
  NodeEvacuateParams,
  NodeMigrateParams,
  NodePowercycleParams,
  NodeSetParams,
} from '../../../generated/opcode-params'
import type { NodeObject } from '../../../generated/resource-views'
import type { JsonObject } from '../../../lib/shapes/shape'
import {
  OpNodeEvacuate,
  OpNodeMigrate,
  OpNodeModifyStorage,
  OpNodePowercycle,
  OpNodeQueryStorage,
  OpNodeSetParams,
  OpRepairNodeStorage,
} from '../../../opcodes/node'
import type { JobId } from '../../../rpc/luxi/calls'
import { badRequest } from '../../../http/errors'
import { NODE_COLUMNS, NODE_FIELDS, NODE_LIST_COLUMNS } from '../fields'
import { wrongType } from '../fill'
import { Needs } from '../read-permission'
import { fieldsOf, listOf, objectOf } from '../tables'
import { type Link, links, oneRow, required, requiredList, Resource } from './resource'

const MISSING = 'Missing the required %s parameter'

/** The roles that can be given to a node. */
export type NodeRole = 'regular' | 'master-candidate' | 'drained' | 'offline'

/** A node. */
export interface NodeWithAliases extends NodeObject {
  /** The same as `sip`. */
  secondary_ip: string | null
}

@Route('2/nodes')
@Tags('nodes')
export class NodesController extends Resource {
  /** Nodes: names, or with `bulk` everything. */
  @Get('')
  @Needs('nodes.list')
  async list(@Query() bulk = 0): Promise<Link[] | NodeObject[]> {
    if (bulk === 0) return links(await this.master.queryNodes([], ['name'], false), '/2/nodes')
    return listOf<NodeObject>(NODE_LIST_COLUMNS, this.master.text.queryNodes([], NODE_FIELDS, false))
  }

  /** One node. */
  @Get('{name}')
  @Needs('nodes.query')
  async get(@Path() name: string, @Query() lock = 0): Promise<NodeWithAliases> {
    return objectOf(NODE_COLUMNS, await oneRow(this.master.queryNodes([name], fieldsOf(NODE_COLUMNS), lock !== 0)))
  }

  /** Moves instances off the node. */
  @Post('{name}/evacuate')
  @Security('basic', ['write'])
  evacuate(@Path() name: string, @Body() body: NodeEvacuateParams, @Query('dry-run') dryRun = 0): Promise<JobId> {
    return this.submit(OpNodeEvacuate, body, { node_name: name, dry_run: dryRun !== 0 })
  }

  /** Migrates all primary instances of the node. */
  @Post('{name}/migrate')
  @Security('basic', ['write'])
  migrate(
    @Path() name: string,
    @Query() mode?: string,
    @Query() live?: number,
    @Body() body?: NodeMigrateParams,
  ): Promise<JobId> {
    if (this.context.query.size === 0) return this.submit(OpNodeMigrate, body, { node_name: name })
    // Old clients give the mode in the address. Then the body is ignored.
    if (live !== undefined && mode !== undefined) throw badRequest("Only one of 'live' and 'mode' should be passed")
    const desired = live === undefined ? (mode ?? null) : live !== 0 ? 'live' : 'non-live'
    return this.submit(OpNodeMigrate, { mode: desired }, { node_name: name })
  }

  /** Changes flags and parameters of the node. */
  @Post('{name}/modify')
  @Security('basic', ['write'])
  modify(@Path() name: string, @Body() body?: NodeSetParams): Promise<JobId> {
    return this.submit(OpNodeSetParams, body, { node_name: name })
  }

  /** Reboots the node at once. */
  @Post('{name}/powercycle')
  @Security('basic', ['write'])
  powercycle(@Path() name: string, @Query() force = 0, @Body() body?: NodePowercycleParams): Promise<JobId> {
    return this.submit(OpNodePowercycle, body, { node_name: name, force: force !== 0 })
  }

  /** The node's role: master, master-candidate, regular, drained or offline. */
  @Get('{name}/role')
  @Needs('nodes.role.query')
  async role(@Path() name: string, @Query() lock = 0): Promise<string> {
    const [letter] = await oneRow(this.master.queryNodes([name], ['role'], lock !== 0))
    return ROLE_NAMES[String(letter)] ?? String(letter)
  }

  /** Gives the node another role. The body is the role's name. */
  @Put('{name}/role')
  @Security('basic', ['write'])
  setRole(
    @Path() name: string,
    @Body() body: NodeRole,
    @Query() force = 0,
    @Query('auto-promote') autoPromote = 0,
  ): Promise<JobId> {
    if (typeof body !== 'string') throw wrongType('Body contents', body, 'str')
    const flags = ROLE_FLAGS.get(body)
    if (flags === undefined) throw badRequest(`Can't set '${body}' role`)
    const statics = { node_name: name, ...flags, force: force !== 0, auto_promote: autoPromote !== 0 }
    this.context.need('nodes.role.modify')
    return this.send(OpNodeSetParams, undefined, statics)
  }

  /** Storage units of the node, through a job. */
  @Get('{name}/storage')
  @Security('basic', ['write'])
  storage(
    @Path() name: string,
    @Query('storage_type') storageType?: string,
    @Query('output_fields') outputFields?: string,
  ): Promise<JobId> {
    const fields = requiredList('output_fields', outputFields, MISSING)
    const statics = { nodes: [name], storage_type: storageType ?? null, output_fields: fields }
    return this.submit(OpNodeQueryStorage, this.onlyDepends(), statics)
  }

  /** Changes a storage unit of the node. */
  @Put('{name}/storage/modify')
  @Security('basic', ['write'])
  modifyStorage(
    @Path() name: string,
    @Query('storage_type') storageType?: string,
    @Query('name') unit?: string,
    @Query() allocatable?: number,
  ): Promise<JobId> {
    const statics = { node_name: name, storage_type: storageType ?? null, name: required('name', unit, MISSING) }
    const changes = allocatable === undefined ? {} : { allocatable: allocatable !== 0 }
    return this.submit(OpNodeModifyStorage, this.onlyDepends(), { ...statics, changes })
  }

  /** Repairs a storage unit of the node. */
  @Put('{name}/storage/repair')
  @Security('basic', ['write'])
  repairStorage(
    @Path() name: string,
    @Query('storage_type') storageType?: string,
    @Query('name') unit?: string,
  ): Promise<JobId> {
    const statics = { node_name: name, storage_type: storageType ?? null, name: required('name', unit, MISSING) }
    return this.submit(OpRepairNodeStorage, this.onlyDepends(), statics)
  }

  /** Tags of the node. */
  @Get('{name}/tags')
  @Needs('tags.get')
  tags(@Path() name: string): Promise<string[]> {
    return this.master.queryTags('node', name)
  }

  /** Adds tags to the node. */
  @Put('{name}/tags')
  @Security('basic', ['write'])
  addTags(@Path() name: string, @Query() tag: string[] = [], @Query('dry-run') dryRun = 0): Promise<JobId> {
    return this.setTags('node', name, tag, dryRun)
  }

  /** Removes tags from the node. */
  @Delete('{name}/tags')
  @Security('basic', ['write'])
  removeTags(@Path() name: string, @Query() tag: string[] = [], @Query('dry-run') dryRun = 0): Promise<JobId> {
    return this.deleteTags('node', name, tag, dryRun)
  }
}

const ROLE_NAMES: Readonly<Record<string, string>> = {
  M: 'master',
  C: 'master-candidate',
  R: 'regular',
  D: 'drained',
  O: 'offline',
}

const UNCHANGED = { master_candidate: null, offline: null, drained: null }

const ROLE_FLAGS: ReadonlyMap<string, JsonObject> = new Map([
  ['regular', { master_candidate: false, offline: false, drained: false }],
  ['master-candidate', { ...UNCHANGED, master_candidate: true }],
  ['drained', { ...UNCHANGED, drained: true }],
  ['offline', { ...UNCHANGED, offline: true }],
])

/** Older clients read the secondary address under its long name. */
