// Requests of /2 about networks.
import { Body, Delete, Get, Path, Post, Put, Query, Route, Security, Tags } from '../../../http/decorators'
import type {
  NetworkAddParams,
  NetworkConnectParams,
  NetworkDisconnectParams,
  NetworkRemoveParams,
  NetworkRenameParams,
  NetworkSetParams,
} from '../../../generated/opcode-params'
import type { NetworkObject } from '../../../generated/resource-views'
import {
  OpNetworkAdd,
  OpNetworkConnect,
  OpNetworkDisconnect,
  OpNetworkRemove,
  OpNetworkRename,
  OpNetworkSetParams,
} from '../../../opcodes/network'
import type { JobId } from '../../../rpc/luxi/calls'
import { NETWORK_FIELDS } from '../fields'
import { Needs } from '../read-permission'
import { type NameLink, nameLinks, oneRow, Resource, rowObject } from './resource'

@Route('2/networks')
@Tags('networks')
export class NetworksController extends Resource {
  /** Networks: names, or with `bulk` everything. */
  @Get('')
  @Needs('networks.list')
  async list(@Query() bulk = 0): Promise<NameLink[] | NetworkObject[]> {
    if (bulk === 0) return nameLinks(await this.master.queryNetworks([], ['name'], false), '/2/networks')
    const rows = await this.master.queryNetworks([], NETWORK_FIELDS, false)
    return rows.map((row) => rowObject<NetworkObject>(NETWORK_FIELDS, row))
  }

  /** Creates a network. */
  @Post('')
  @Security('basic', ['write'])
  create(@Body() body: NetworkAddParams, @Query('dry-run') dryRun = 0): Promise<JobId> {
    return this.submit(OpNetworkAdd, body, { dry_run: dryRun !== 0 }, { name: 'network_name' })
  }

  /** One network. */
  @Get('{name}')
  @Needs('networks.query')
  async get(@Path() name: string, @Query() lock = 0): Promise<NetworkObject> {
    return rowObject(NETWORK_FIELDS, await oneRow(this.master.queryNetworks([name], NETWORK_FIELDS, lock !== 0)))
  }

  /** Removes a network that is not connected to any group. */
  @Delete('{name}')
  @Security('basic', ['write'])
  remove(@Path() name: string, @Query('dry-run') dryRun = 0, @Body() body?: NetworkRemoveParams): Promise<JobId> {
    return this.submit(OpNetworkRemove, body, { network_name: name, dry_run: dryRun !== 0 })
  }

  /** Connects the network to a node group. */
  @Put('{name}/connect')
  @Security('basic', ['write'])
  connect(@Path() name: string, @Body() body: NetworkConnectParams, @Query('dry-run') dryRun = 0): Promise<JobId> {
    return this.submit(OpNetworkConnect, body, { network_name: name, dry_run: dryRun !== 0 })
  }

  /** Disconnects the network from a node group. */
  @Put('{name}/disconnect')
  @Security('basic', ['write'])
  disconnect(
    @Path() name: string,
    @Body() body: NetworkDisconnectParams,
    @Query('dry-run') dryRun = 0,
  ): Promise<JobId> {
    return this.submit(OpNetworkDisconnect, body, { network_name: name, dry_run: dryRun !== 0 })
  }

  /** Changes settings of the network. */
  @Put('{name}/modify')
  @Security('basic', ['write'])
  modify(@Path() name: string, @Body() body?: NetworkSetParams): Promise<JobId> {
    return this.submit(OpNetworkSetParams, body, { network_name: name })
  }

  /** Renames the network. */
  @Put('{name}/rename')
  @Security('basic', ['write'])
  rename(@Path() name: string, @Body() body: NetworkRenameParams, @Query('dry-run') dryRun = 0): Promise<JobId> {
    return this.submit(OpNetworkRename, body, { network_name: name, dry_run: dryRun !== 0 })
  }

  /** Tags of the network. */
  @Get('{name}/tags')
  @Needs('tags.get')
  tags(@Path() name: string): Promise<string[]> {
    return this.master.queryTags('network', name)
  }

  /** Adds tags to the network. */
  @Put('{name}/tags')
  @Security('basic', ['write'])
  addTags(@Path() name: string, @Query() tag: string[] = [], @Query('dry-run') dryRun = 0): Promise<JobId> {
    return this.setTags('network', name, tag, dryRun)
  }

  /** Removes tags from the network. */
  @Delete('{name}/tags')
  @Security('basic', ['write'])
  removeTags(@Path() name: string, @Query() tag: string[] = [], @Query('dry-run') dryRun = 0): Promise<JobId> {
    return this.deleteTags('network', name, tag, dryRun)
  }
}
