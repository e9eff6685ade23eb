// Requests of /2 about the cluster: /2/info, its tags and parameters, operating systems.
import { Body, Delete, Get, Put, Query, Route, Security, Tags } from '../../../http/decorators'
import type { ClusterRedistConfParams, ClusterSetParams } from '../../../generated/opcode-params'
import type { OsFields } from '../../../generated/resource-views'
import { memoizeFrozen } from '../../../lib/memoize-frozen'
import type { ClusterInfo } from '../../../model/cluster-info'
import { isObject } from '../../../lib/shapes/shape'
import { OpClusterRedistConf, OpClusterSetParams } from '../../../opcodes/cluster'
import { OpOsDiagnose } from '../../../opcodes/os'
import { op } from '../../../opcodes/index'
import type { JobId } from '../../../rpc/luxi/calls'
import { HttpError } from '../../../http/errors'
import { bodyObject } from '../fill'
import { OS_BULK_FIELDS } from '../fields'
import { jobResult } from '../job-result'
import { Needs } from '../read-permission'
import { Resource, rowObject } from './resource'

const FEATURES = ['instance-create-reqv1', 'instance-reinstall-reqv1', 'node-evac-res1', 'node-migrate-reqv1']

export interface ClusterInfoWithAliases extends ClusterInfo {
  /** The same as `volume_group_name`. */
  vg_name: string | null
  /** The same as `drbd_usermode_helper`. */
  drbd_helper: string | null
}

interface OsParameter {
  name: string
  description: string
}

/** An operating system that can be installed. */
export interface OsObject extends Omit<OsFields, 'parameters'> {
  parameters: OsParameter[]
}

@Route('2')
@Tags('cluster')
export class ClusterController extends Resource {
  /** The cluster and its settings. */
  @Get('info')
  @Needs('cluster.info')
  async info(): Promise<ClusterInfoWithAliases> {
    return described(await this.master.queryClusterInfo())
  }

  /** Names of optional parts of this API that are present. */
  @Get('features')
  features(): string[] {
    return FEATURES
  }

  /** Operating systems that can be installed. Those with variants are listed as `name+variant`. */
  @Get('os')
  @Needs('os.list')
  async os(@Query() bulk = 0): Promise<string[] | OsObject[]> {
    const fields = bulk !== 0 ? OS_BULK_FIELDS : (['name', 'variants'] as const)
    const job = await this.submitAll([op(OpOsDiagnose, { output_fields: fields, names: [] })])
    const [rows] = await jobResult(this.context, job)
    if (!Array.isArray(rows)) throw new HttpError(502, "Can't get OS list")
    const systems = rows.filter((row): row is unknown[] => Array.isArray(row))
    return bulk !== 0 ? systems.map(osObject) : systems.flatMap(osNames)
  }

  /** Changes settings of the cluster. */
  @Put('modify')
  @Security('basic', ['write'])
  modify(@Body() body?: ClusterSetParams): Promise<JobId> {
    const { body: input, query } = this.context
    for (const name of FORBIDDEN)
      if (query.has(name) || (isObject(input) && Object.hasOwn(input, name)))
        throw new HttpError(403, `The parameter ${name} cannot be set via RAPI`)
    return this.submit(OpClusterSetParams, bodyObject(body ?? null), {})
  }

  /** Sends the configuration to all nodes again. */
  @Put('redistribute-config')
  @Security('basic', ['write'])
  redistributeConfig(@Body() body?: ClusterRedistConfParams): Promise<JobId> {
    return this.submit(OpClusterRedistConf, body, {})
  }

  /** Tags of the cluster. */
  @Get('tags')
  @Needs('tags.get')
  tags(): Promise<string[]> {
    return this.master.queryTags('cluster', '')
  }

  /** Adds tags to the cluster. */
  @Put('tags')
  @Security('basic', ['write'])
  addTags(@Query() tag: string[] = [], @Query('dry-run') dryRun = 0): Promise<JobId> {
    return this.setTags('cluster', null, tag, dryRun)
  }

  /** Removes tags from the cluster. */
  @Delete('tags')
  @Security('basic', ['write'])
  removeTags(@Query() tag: string[] = [], @Query('dry-run') dryRun = 0): Promise<JobId> {
    return this.deleteTags('cluster', null, tag, dryRun)
  }
}

/** Adds the names that only this API uses. */
const described = memoizeFrozen((answer: Readonly<Record<string, unknown>>): ClusterInfoWithAliases => {
  // clusterInfo in src/query/ makes this form.
  const info = answer as unknown as ClusterInfo
  return Object.freeze({ ...info, vg_name: info.volume_group_name, drbd_helper: info.drbd_usermode_helper })
})

/** These parameters name programs that root runs, so they can only be set on the master. */
const FORBIDDEN = ['compression_tools']

function osNames([name, variants]: readonly unknown[]): string[] {
  const list = Array.isArray(variants) ? variants : []
  return list.length === 0 ? [String(name)] : list.map((variant) => `${String(name)}+${String(variant)}`)
}

function osObject(row: readonly unknown[]): OsObject {
  const { parameters, ...system } = rowObject<OsFields>(OS_BULK_FIELDS, row)
  const pairs = (parameters ?? []).map((entry) => (Array.isArray(entry) ? entry : [entry]))
  return { ...system, parameters: pairs.map(([name = '', description = '']) => ({ name, description })) }
}
