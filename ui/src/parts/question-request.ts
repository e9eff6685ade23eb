// The questions to the allocation and to monitoring for scripts: as requests, and as commands for the master.
import type { components } from '../api/schema'
import type { Request } from './request'
import { gntText } from './gnt'

type Schemas = components['schemas']
type Spec = Schemas['InstanceSpecification']

const question = (path: string, body: object, gnt: string): Request => ({
  ...{ method: 'POST', path, body: body as Request['body'], gnt },
})

/** The flags of `gnt allocation balance`. What is true there by default has a flag only for its opposite. */
export const balanceFlags = ({ max_moves, disk_moves, instance_moves }: Schemas['BalanceRequest']) => ({
  ...{ max_moves, disk_moves: disk_moves === false ? false : undefined },
  instance_moves: instance_moves === false ? false : undefined,
})

export const balanceQuestion = (requested: Schemas['BalanceRequest']): Request =>
  question('/3/balance', requested, gntText('allocation balance', balanceFlags(requested), []))

export function capacityQuestion({ spec, ...requested }: Schemas['CapacityRequest']): Request {
  const gnt = gntText('allocation capacity', { ...specFlags(spec), ...requested }, [])
  return question('/3/capacity', { spec, ...requested }, gnt)
}

/** The command knows one kind of arriving instances, as the console does. */
export function whatIfQuestion(requested: Schemas['WhatIfRequest']): Request {
  const { nodes = [], node_tag, instances: [arriving] = [], explain } = requested
  const arrival = arriving && { ...specFlags(arriving.spec), count: arriving.count, node_group: arriving.group }
  const flags = { node_tag, ...arrival, explain }
  return question('/3/whatif', requested, gntText('allocation whatif', flags, nodes))
}

/** Problems that nodes report, and what one node reports in full. */
export const monitoringQuestion = (node?: string): Request => {
  const query: Record<string, string> =
    node === undefined ? { fields: PROBLEMS, limit: '1000' } : { node, limit: '1000' }
  const gnt = gntText('cluster monitor', node === undefined ? {} : { node, reports: true, json: true }, [])
  return { method: 'GET', path: `/3/monitoring?${new URLSearchParams(query).toString()}`, body: {}, gnt }
}

/** The fields of the question about all nodes. The reports themselves would be long. */
export const PROBLEMS = 'node,answer,status,problems'

function specFlags({ disk_template, memory_mib, vcpus, disks_mib = [], disks_spindles, tags, networks }: Spec) {
  const disks = disks_mib.length === 0 ? undefined : disks_mib.map((size_mib) => `${size_mib}m`)
  return {
    disk_template,
    memory: `${memory_mib}m`,
    vcpus,
    disks,
    disk_spindles: disks_spindles?.map(String),
    tags,
    networks,
  }
}
