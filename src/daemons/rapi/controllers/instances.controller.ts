// Requests of /2 about instances.
import { Body, Delete, Extension, Get, Path, Post, Put, Query, Route, Security, Tags } from '../../../http/decorators'
import type {
  BackupExportParams,
  BackupRemoveParams,
  InstanceCreateParams,
  InstanceFailoverParams,
  InstanceMigrateParams,
  InstanceRebootParams,
  InstanceRemoveParams,
  InstanceRenameParams,
  InstanceSetParams,
  InstanceShutdownParams,
} from '../../../generated/opcode-params'
import { OpBackupExport, OpBackupPrepare, OpBackupRemove } from '../../../opcodes/backup'
import type { InstanceObject } from '../../../generated/resource-views'
import {
  OpInstanceCreate,
  OpInstanceFailover,
  OpInstanceMigrate,
  OpInstanceQueryData,
  OpInstanceReboot,
  OpInstanceReinstall,
  OpInstanceRemove,
  OpInstanceRename,
  OpInstanceSetParams,
  OpInstanceShutdown,
  OpInstanceStartup,
} from '../../../opcodes/instance'
import type { JobId } from '../../../rpc/luxi/calls'
import type { ConsoleInfo } from '../../../rpc/node/dicts'
import { HttpError } from '../../../http/errors'
import { INSTANCE_COLUMNS } from '../fields'
import { createBody, reinstallOpcodes, withUsbDevices, type ReinstallParams } from '../instance-bodies'
import { Needs } from '../read-permission'
import { fieldsOf, listOf, objectOf } from '../tables'
import { type Link, links, oneRow, Resource } from './resource'

/** Body keys, and the parameters that they stand for. */
const CREATE_RENAMES = { os: 'os_type', name: 'instance_name' }
const MODIFY_RENAMES = { custom_beparams: 'beparams', custom_hvparams: 'hvparams' }

@Route('2/instances')
@Tags('instances')
export class InstancesController extends Resource {
  /** Instances: names, or with `bulk` everything. */
  @Get('')
  @Needs('instances.list')
  async list(@Query() bulk = 0, @Query() lock = 0): Promise<Link[] | InstanceObject[]> {
    if (bulk === 0) return links(await this.master.queryInstances([], ['name'], lock !== 0), '/2/instances')
    return listOf<InstanceObject>(
      INSTANCE_COLUMNS,
      this.master.text.queryInstances([], fieldsOf(INSTANCE_COLUMNS), lock !== 0),
    )
  }

  /** Creates an instance. */
  @Extension('x-also-in-body', { __version__: { type: 'integer', enum: [1], description: 'Form of the body.' } })
  @Post('')
  @Security('basic', ['write'])
  create(@Body() body: InstanceCreateParams, @Query('dry-run') dryRun = 0): Promise<JobId> {
    return this.submit(OpInstanceCreate, createBody(body), { dry_run: dryRun !== 0 }, CREATE_RENAMES)
  }

  /** One instance. */
  @Get('{name}')
  @Needs('instances.query')
  async get(@Path() name: string, @Query() lock = 0): Promise<InstanceObject> {
    const row = await oneRow(this.master.queryInstances([name], fieldsOf(INSTANCE_COLUMNS), lock !== 0))
    return objectOf(INSTANCE_COLUMNS, row)
  }

  /** Removes the instance and its disks. */
  @Extension('x-not-in-body', ['ignore_failures'])
  @Delete('{name}')
  @Security('basic', ['write'])
  remove(@Path() name: string, @Query('dry-run') dryRun = 0, @Body() body?: InstanceRemoveParams): Promise<JobId> {
    return this.submit(OpInstanceRemove, body, { instance_name: name, ignore_failures: false, dry_run: dryRun !== 0 })
  }

  /** How to reach the instance's console. */
  @Get('{name}/console')
  @Security('basic', ['write', 'read'])
  @Needs('instances.query.console')
  async console(@Path() name: string): Promise<ConsoleInfo> {
    const [console, running] = await oneRow(this.master.queryInstances([name], ['console', 'oper_state'], false))
    if (running !== true || console === null || console === undefined)
      throw new HttpError(503, 'Instance console unavailable')
    // The node sends it in this form.
    return console as ConsoleInfo
  }

  /** Everything about the instance, through a job. */
  @Get('{name}/info')
  info(@Path() name: string, @Query('static') onlyStatic = 0): Promise<JobId> {
    return this.submit(OpInstanceQueryData, this.onlyDepends(), { instances: [name], static: onlyStatic !== 0 })
  }

  /** Starts the instance. */
  @Put('{name}/startup')
  @Security('basic', ['write'])
  startup(
    @Path() name: string,
    @Query() force = 0,
    @Query('dry-run') dryRun = 0,
    @Query('no_remember') noRemember = 0,
  ): Promise<JobId> {
    const flags = { force: force !== 0, dry_run: dryRun !== 0, no_remember: noRemember !== 0 }
    return this.submit(OpInstanceStartup, this.onlyDepends(), { instance_name: name, ...flags })
  }

  /** Stops the instance. */
  @Put('{name}/shutdown')
  @Security('basic', ['write'])
  shutdown(
    @Path() name: string,
    @Query('dry-run') dryRun = 0,
    @Query('no_remember') noRemember = 0,
    @Body() body?: InstanceShutdownParams,
  ): Promise<JobId> {
    const flags = { no_remember: noRemember !== 0, dry_run: dryRun !== 0 }
    return this.submit(OpInstanceShutdown, body, { instance_name: name, ...flags })
  }

  /** Reboots the instance. */
  @Post('{name}/reboot')
  @Security('basic', ['write'])
  reboot(
    @Path() name: string,
    @Query() type: string = 'hard',
    @Query('ignore_secondaries') ignoreSecondaries = 0,
    @Query('dry-run') dryRun = 0,
    @Body() body?: InstanceRebootParams,
  ): Promise<JobId> {
    const flags = { ignore_secondaries: ignoreSecondaries !== 0, dry_run: dryRun !== 0 }
    return this.submit(OpInstanceReboot, body, { instance_name: name, reboot_type: type, ...flags })
  }

  /** Installs the instance again: stops it, reinstalls it and starts it. */
  @Post('{name}/reinstall')
  @Security('basic', ['write'])
  reinstall(
    @Path() name: string,
    @Query() os?: string,
    @Query() nostartup = 0,
    @Body() body?: ReinstallParams,
  ): Promise<JobId> {
    const { query } = this.context
    const ops = reinstallOpcodes(name, body, query.size > 0 ? { os, start: nostartup === 0 } : null)
    this.context.need(OpInstanceReinstall.permission)
    return this.submitAll(ops)
  }

  /** Renames a stopped instance. */
  @Put('{name}/rename')
  @Security('basic', ['write'])
  rename(@Path() name: string, @Body() body: InstanceRenameParams): Promise<JobId> {
    return this.submit(OpInstanceRename, body, { instance_name: name })
  }

  /** Changes settings, disks and NICs of the instance. */
  @Put('{name}/modify')
  @Security('basic', ['write'])
  modify(@Path() name: string, @Body() body: InstanceSetParams): Promise<JobId> {
    return this.submit(OpInstanceSetParams, withUsbDevices(body), { instance_name: name }, MODIFY_RENAMES)
  }

  /** Moves the running instance to another node. */
  @Put('{name}/migrate')
  @Security('basic', ['write'])
  migrate(@Path() name: string, @Body() body?: InstanceMigrateParams): Promise<JobId> {
    return this.submit(OpInstanceMigrate, body, { instance_name: name })
  }

  /** Stops the instance and starts it on another node. */
  @Put('{name}/failover')
  @Security('basic', ['write'])
  failover(@Path() name: string, @Body() body?: InstanceFailoverParams): Promise<JobId> {
    return this.submit(OpInstanceFailover, body, { instance_name: name })
  }

  /** Prepares an export, locally or to another cluster. */
  @Put('{name}/prepare-export')
  @Security('basic', ['write'])
  prepareExport(@Path() name: string, @Query() mode?: string): Promise<JobId> {
    return this.submit(OpBackupPrepare, this.onlyDepends(), { instance_name: name, mode: mode ?? null })
  }

  /** Exports the instance. */
  @Put('{name}/export')
  @Security('basic', ['write'])
  export(@Path() name: string, @Body() body: BackupExportParams): Promise<JobId> {
    return this.submit(OpBackupExport, body, { instance_name: name }, { destination: 'target_node' })
  }

  /** Removes the exports of the instance from all nodes. */
  @Delete('{name}/export')
  @Security('basic', ['write'])
  removeExport(@Path() name: string, @Body() body?: BackupRemoveParams): Promise<JobId> {
    return this.submit(OpBackupRemove, body, { instance_name: name })
  }

  /** Tags of the instance. */
  @Get('{name}/tags')
  @Needs('tags.get')
  tags(@Path() name: string): Promise<string[]> {
    return this.master.queryTags('instance', name)
  }

  /** Adds tags to the instance. */
  @Put('{name}/tags')
  @Security('basic', ['write'])
  addTags(@Path() name: string, @Query() tag: string[] = [], @Query('dry-run') dryRun = 0): Promise<JobId> {
    return this.setTags('instance', name, tag, dryRun)
  }

  /** Removes tags from the instance. */
  @Delete('{name}/tags')
  @Security('basic', ['write'])
  removeTags(@Path() name: string, @Query() tag: string[] = [], @Query('dry-run') dryRun = 0): Promise<JobId> {
    return this.deleteTags('instance', name, tag, dryRun)
  }
}
